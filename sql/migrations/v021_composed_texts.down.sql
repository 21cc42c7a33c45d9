-- Texts stay in the composed form, which older programs accept.
SELECT 1;
