-- The tables of members and tokens have their rows already.
ALTER TABLE user_account DROP COLUMN live_settings;
DROP INDEX user_list_place_by_list;
DROP INDEX user_list_share_by_digest;
DROP INDEX user_ticket_by_digest;
DROP INDEX purchase_row_by_batch;
DROP TABLE purchase_row;
