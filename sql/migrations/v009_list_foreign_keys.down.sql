ALTER TABLE user_event DROP CONSTRAINT user_event_account_fkey;
ALTER TABLE user_list_place DROP CONSTRAINT user_list_place_account_fkey;
ALTER TABLE user_list_share DROP CONSTRAINT user_list_share_list_fkey;
ALTER TABLE user_list_item DROP CONSTRAINT user_list_item_list_fkey;
ALTER TABLE user_list DROP CONSTRAINT user_list_account_fkey;
