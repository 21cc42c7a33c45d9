DROP INDEX order_change_by_subject;
