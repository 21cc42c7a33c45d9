-- Compatible with: 21
-- Takes about: 3 s, 60 MB per million rows of placement_position
-- Replaces the migration of this name where the tables are distributed. Citus plans statements with the values of their parameters, and so
-- needs no other estimate of the size of shelves; it would not set one either.
-- A position is found by product first, like a placement: statements that look up the positions of products cannot read a whole shelf for
-- each of them instead, whatever the planner expects of the shelf's size.

-- Step: key of positions
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS placement_position_by_sku ON placement_position (store_id, sku, shelf_id);

-- Step: the switch
ALTER TABLE placement_position DROP CONSTRAINT placement_position_pkey;
ALTER TABLE placement_position ADD CONSTRAINT placement_position_pkey PRIMARY KEY USING INDEX placement_position_by_sku;
