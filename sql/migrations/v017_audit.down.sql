DROP FUNCTION audit_erase_user(text, text, uuid, text, text, text, boolean);
DROP FUNCTION audit_drop_partitions(integer);
DROP FUNCTION audit_create_partitions(date);
DROP TABLE store_audit, user_audit;
