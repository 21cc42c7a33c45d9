DROP TABLE import_row, import_run, placement_position, placement, product, shelf, store, deployment;
