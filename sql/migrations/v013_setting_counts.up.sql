-- Compatible with: 10
-- The number of a user's settings that are not deleted. It may be too high, because it is counted again before it is used to
-- refuse a setting; NULL until it is counted for the first time.
ALTER TABLE user_account ADD COLUMN IF NOT EXISTS live_settings integer;
