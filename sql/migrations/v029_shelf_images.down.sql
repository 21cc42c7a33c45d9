DROP TABLE shelf_image;
