DROP TABLE user_token;
DROP TABLE user_list_member;
ALTER TABLE import_row DROP COLUMN store_id;
