-- Compatible with: 10
-- The approximate number of a user's settings that are not deleted: they are counted again before one is refused, and with every
-- hundredth new one. NULL until they are counted for the first time.
ALTER TABLE user_account ADD COLUMN IF NOT EXISTS live_settings integer;
