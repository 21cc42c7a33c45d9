DROP TABLE import_row, import_run, idempotency_record, order_change, placement_position, placement, product, shelf, store, deployment;
