ALTER TABLE user_list ADD CONSTRAINT user_list_account_fkey FOREIGN KEY (user_id) REFERENCES user_account (user_id);
ALTER TABLE user_list_item ADD CONSTRAINT user_list_item_list_fkey FOREIGN KEY (user_id, list_id) REFERENCES user_list (user_id, list_id);
ALTER TABLE user_list_share ADD CONSTRAINT user_list_share_list_fkey FOREIGN KEY (user_id, list_id) REFERENCES user_list (user_id, list_id);
ALTER TABLE user_list_place ADD CONSTRAINT user_list_place_account_fkey FOREIGN KEY (user_id) REFERENCES user_account (user_id);
ALTER TABLE user_event ADD CONSTRAINT user_event_account_fkey FOREIGN KEY (user_id) REFERENCES user_account (user_id);
