SELECT * FROM Traffic;
