-- For Citus: run between migrations 4 and 5 (aisle db migrate --to 4, this file, aisle db migrate). Unused by default.
SELECT create_distributed_table('user_account', 'user_id');
SELECT create_distributed_table('user_setting', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_ticket', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_idempotency_record', 'user_id', colocate_with => 'user_account');
