-- Takes about: 3 s, 160 MB per million rows of user_list_place
-- The members of lists and the owners of tokens are in the same tables with and without Citus. Leftovers of earlier versions go. Servers of
-- earlier schemas do not write these tables: stop them before.
LOCK TABLE user_account, user_list_place, user_list_share, user_ticket IN ACCESS EXCLUSIVE MODE;
ALTER TABLE user_account DROP COLUMN live_settings;
INSERT INTO user_list_member (user_id, list_id, member_id, share_id, left_at)
SELECT owner_id, list_id, user_id, share_id, left_at FROM user_list_place WHERE role = 'owner' OR owner_id <> user_id;
INSERT INTO user_token (digest, user_id, expires_at)
SELECT digest, user_id, expires_at FROM user_list_share UNION SELECT digest, user_id, expires_at FROM user_ticket;
DROP INDEX user_list_place_by_list;
DROP INDEX user_list_share_by_digest;
DROP INDEX user_ticket_by_digest;
DROP INDEX purchase_row_by_batch;
DROP TABLE purchase_row;
