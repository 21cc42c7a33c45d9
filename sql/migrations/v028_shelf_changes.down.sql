DROP TABLE shelf_change;
