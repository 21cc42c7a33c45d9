-- Compatible with: 10
-- Step: the changes of a user, for their export and erasure
CREATE INDEX CONCURRENTLY IF NOT EXISTS order_change_by_subject ON order_change (subject) WHERE subject IS NOT NULL;
