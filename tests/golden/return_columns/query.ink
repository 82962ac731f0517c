STREAM Sale(id STRING, shop STRING, price DOUBLE, pieces BIGINT, t BIGINT) ID id KEY shop TIME t;

EVENT jump(shop) AS
  PATTERN SEQ NEXT(Sale a, Sale b)
  WHERE b.price * b.pieces > 2 * a.price * a.pieces
  PARTITION BY shop
  RETURN b.price - a.price AS difference, b.pieces / a.pieces AS ratio, a.pieces % 4 AS rest, upper(shop) AS shop_name,
         greatest(a.price, b.price) AS dearer, END(b) - START(a) AS took;
