-- Compatible with: 22
-- Profiles of imports: how the files of one origin are written.
CREATE TABLE import_profile (
    name text COLLATE "C" CONSTRAINT import_profile_pkey PRIMARY KEY,
    -- As the program writes it.
    document json NOT NULL,
    modified_at timestamptz NOT NULL,
    CONSTRAINT import_profile_document_object CHECK (json_typeof(document) = 'object')
);

-- A row of a file can be on several shelves: the number of the shelf in the row. Null attributes are those of a file without any.
ALTER TABLE import_row ADD COLUMN part smallint NOT NULL DEFAULT 0, ADD COLUMN attributes jsonb;
