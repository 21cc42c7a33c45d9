ALTER TABLE user_account DROP COLUMN live_settings;
