-- Shares that are offered, bought and paid. Clients cancel what they bought, and the bank tells late of payments, or of
-- wrong ones that it takes back.
-- Data: inkling generate trades

STREAM Offer(id STRING, symbol STRING, price DOUBLE, shares BIGINT) ID id KEY symbol TIME at
  LATENESS 10 MINUTES SPECULATIVE OP op FOR 1 HOUR;
STREAM Purchase(id STRING, symbol STRING, client STRING, shares BIGINT) ID id KEY symbol TIME at
  LATENESS 10 MINUTES SPECULATIVE OP op FOR 1 HOUR;
STREAM Balance(id STRING, client STRING, before DOUBLE, after DOUBLE) ID id KEY client TIME at
  LATENESS 10 MINUTES SPECULATIVE OP op FOR 1 HOUR;

-- Told as soon as it is known, though the offer may still come after the purchase.
EVENT buy(symbol, p.client AS client, p.shares AS shares) AS
  PATTERN SEQ(Offer o, Purchase p[shares <= o.shares])
  WITHIN 5 MINUTES
  PARTITION BY symbol;

-- More than 10,000 in one payment. Whoever was alarmed by it hears of it again if it never happened.
EVENT big_trade(client, b.symbol AS symbol, b.shares AS shares, x.before - x.after AS paid) AS
  PATTERN SEQ(buy b, Balance x[before - after > 10000])
  WITHIN 5 MINUTES
  PARTITION BY client
  ON RETRACT undo_trade;
