-- For Citus: run after migration 7. Unused by default.
SELECT create_distributed_table('purchase_event', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('purchase_inbox', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('purchase_stray', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('purchase_day', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('popularity_due', 'store_id', colocate_with => 'shelf');
