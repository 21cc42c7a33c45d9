-- For Citus: run between migrations 8 and 9 (aisle db migrate --to 8, this file, aisle db migrate). Unused by default,
-- and not tried: a list's rows stand with its owner, places with those who have it, and joining the two takes repartition joins
-- (SET citus.enable_repartition_joins TO on).
SELECT create_distributed_table('user_list', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_list_item', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_list_share', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_list_place', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_event', 'user_id', colocate_with => 'user_account');
