-- For Citus: run between migrations 1 and 2 (aisle db migrate --to 1, this file, aisle db migrate). Unused by default.
SELECT create_reference_table('deployment');
SELECT create_reference_table('store');
SELECT create_distributed_table('shelf', 'store_id');
SELECT create_distributed_table('product', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('placement', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('placement_position', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('order_change', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('idempotency_record', 'store_id', colocate_with => 'shelf');
