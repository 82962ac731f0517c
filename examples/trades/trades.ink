-- Shares that are offered, bought and paid. Clients cancel purchases, and the bank reports some payments late, or
-- reports wrong ones and withdraws them.
-- Data: inkling generate trades

STREAM Offer(id STRING, symbol STRING, price DOUBLE, shares BIGINT) ID id KEY symbol TIME at
  LATENESS 10 MINUTES SPECULATIVE OP op FOR 1 HOUR;
STREAM Purchase(id STRING, symbol STRING, client STRING, shares BIGINT) ID id KEY symbol TIME at
  LATENESS 10 MINUTES SPECULATIVE OP op FOR 1 HOUR;
STREAM Balance(id STRING, client STRING, before DOUBLE, after DOUBLE) ID id KEY client TIME at
  LATENESS 10 MINUTES SPECULATIVE OP op FOR 1 HOUR;

-- Emitted speculatively, although the offer may arrive after the purchase.
EVENT buy(symbol, p.client AS client, p.shares AS shares) AS
  PATTERN SEQ(Offer o, Purchase p[shares <= o.shares])
  WITHIN 5 MINUTES
  PARTITION BY symbol;

-- More than 10,000 in one payment. If the payment is withdrawn, so is the alarm.
EVENT big_trade(client, b.symbol AS symbol, b.shares AS shares, x.before - x.after AS paid) AS
  PATTERN SEQ(buy b, Balance x[before - after > 10000])
  WITHIN 5 MINUTES
  PARTITION BY client
  ON RETRACT undo_trade;
