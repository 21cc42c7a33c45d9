ALTER TABLE user_setting ADD CONSTRAINT user_setting_account_fkey FOREIGN KEY (user_id) REFERENCES user_account (user_id);
ALTER TABLE user_ticket ADD CONSTRAINT user_ticket_account_fkey FOREIGN KEY (user_id) REFERENCES user_account (user_id);
ALTER TABLE user_idempotency_record ADD CONSTRAINT user_idempotency_record_account_fkey FOREIGN KEY (user_id) REFERENCES user_account (user_id);
