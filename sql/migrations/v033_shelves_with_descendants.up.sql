-- A shelf can show the products of the shelves below it to requests that do not say which they want.
ALTER TABLE shelf ADD COLUMN includes_descendants boolean NOT NULL DEFAULT false;
