DROP TABLE user_idempotency_record;
DROP TABLE user_ticket;
DROP TABLE user_setting;
DROP TABLE user_account;
