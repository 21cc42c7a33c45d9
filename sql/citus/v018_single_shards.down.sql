DROP TABLE user_token;
DROP TABLE user_list_member;
-- The column by which a table is distributed cannot be dropped.
SELECT undistribute_table('import_row');
-- The primary key goes with its column.
ALTER TABLE import_row DROP COLUMN store_id;
ALTER TABLE import_row SET UNLOGGED;
