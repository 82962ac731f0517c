STREAM Trade(id STRING, account STRING, price INT, t INT)
  ID id
  KEY account
  TIME t
  LATENESS 5 TICKS SPECULATIVE
  OP op FOR 60 TICKS;

EVENT rise(y.price - x.price AS by) AS
  PATTERN SEQ NEXT(Trade x, Trade y[price > x.price])
  WITHIN 10 TICKS
  PARTITION BY account
  ON RETRACT undo_rise;

EVENT quiet AS
  PATTERN SEQ(Trade x, NOT Trade y, AFTER 4 TICKS)
  PARTITION BY account;

EVENT climb AS
  PATTERN SEQ(rise a, rise b)
  WITHIN 30 TICKS;
