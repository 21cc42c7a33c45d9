-- Compatible with: 22
-- An import compares its file with the catalog before it changes anything. The number of deletions shows whether its store was deleted,
-- and created again, since then.
ALTER TABLE store_state ADD COLUMN deletions integer NOT NULL DEFAULT 0;
-- The row leaves the availability, or the attributes, of its product as they are.
ALTER TABLE import_row ADD COLUMN keeps_stock boolean NOT NULL DEFAULT false,
    ADD COLUMN keeps_attributes boolean NOT NULL DEFAULT false;
