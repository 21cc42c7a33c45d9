-- Older servers would ignore the whole of a remembered view that says something about groups. The spaces of jsonb may make a long value
-- too long, which then keeps its sort.
UPDATE user_setting SET value = CASE
        WHEN octet_length((value::jsonb - 'collapse')::text) <= 4096 THEN (value::jsonb - 'collapse')::json ELSE value -> 'sort' END
    WHERE key ~ '^stores/[^/]+(/shelves/[^/]+)?/sort$' AND value -> 'collapse' IS NOT NULL;
ALTER TABLE shelf DROP COLUMN collapses_groups;
ALTER TABLE import_row DROP COLUMN product_group;
ALTER TABLE product DROP COLUMN product_group;
