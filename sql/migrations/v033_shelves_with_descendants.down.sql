ALTER TABLE shelf DROP COLUMN includes_descendants;
