STREAM Trade(id STRING, account STRING, price DOUBLE) ID id KEY account TIME at OP op;

STREAM Tick(id STRING, t INT) ID id TIME t OP sign;

EVENT rise AS PATTERN SEQ(Trade x, Trade y[price > x.price]) WITHIN 10 MINUTES PARTITION BY account;

EVENT tick AS PATTERN Tick;
