-- For Citus: distributes the tables of an empty database. Aisle does not run on Citus yet: `unplannedByCitus` in StatementTests
-- lists the statements that Citus cannot plan. This file replaces the procedures that comments of migrations 1, 4 and 8 describe.
--
-- Run it once, after CREATE EXTENSION citus and `aisle db migrate`. Foreign keys are dropped and added again, because Citus
-- distributes no table that a local table refers to. Lists join the rows of their owners with the places of their members:
-- SET citus.enable_repartition_joins TO on.
BEGIN;
SET LOCAL citus.multi_shard_modify_mode TO 'sequential';

CREATE TEMPORARY TABLE dropped_key ON COMMIT DROP AS
SELECT conrelid::regclass::text AS of_table, conname::text AS name, pg_get_constraintdef(oid) AS definition
FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace;

DO $$
DECLARE key record;
BEGIN
    FOR key IN SELECT * FROM dropped_key LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', key.of_table, key.name);
    END LOOP;
END $$;

SELECT create_reference_table('deployment');
SELECT create_reference_table('database_life');
SELECT create_reference_table('store');
SELECT create_distributed_table('shelf', 'store_id');
SELECT create_distributed_table('store_state', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('product', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('placement', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('placement_popularity', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('placement_position', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('order_change', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('idempotency_record', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('purchase_event', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('purchase_inbox', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('purchase_stray', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('purchase_count', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('purchase_by_customer', 'store_id', colocate_with => 'shelf');
SELECT create_reference_table('purchase_cell');
SELECT create_distributed_table('purchase_erasure', 'customer', colocate_with => 'none');
SELECT create_distributed_table('popularity_due', 'store_id', colocate_with => 'shelf');
SELECT create_distributed_table('store_audit', 'store_id', colocate_with => 'shelf');

SELECT create_distributed_table('user_account', 'user_id');
SELECT create_distributed_table('user_setting', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_ticket', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_idempotency_record', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_list', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_list_item', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_list_share', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_list_place', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_event', 'user_id', colocate_with => 'user_account');
SELECT create_distributed_table('user_audit', 'user_id', colocate_with => 'user_account');

DO $$
DECLARE key record;
BEGIN
    FOR key IN SELECT * FROM dropped_key LOOP
        EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', key.of_table, key.name, key.definition);
    END LOOP;
END $$;
COMMIT;
