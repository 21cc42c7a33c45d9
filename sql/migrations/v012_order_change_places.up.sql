-- Compatible with: 10
-- Where a change put the first few products that it moved: the number of the change, to which an older program may add another one in
-- the same row, then each product and what stands before it, nothing for the front; all separated by slashes.
ALTER TABLE order_change ADD COLUMN IF NOT EXISTS placed text COLLATE "C";
