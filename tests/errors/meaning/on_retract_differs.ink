STREAM Trade(id STRING, account STRING, price DOUBLE) ID id KEY account TIME at OP op FOR 1 HOUR;

EVENT odd(x.account) AS PATTERN Trade x[price > 100.0] ON RETRACT undo;

EVENT odd(x.account) AS PATTERN Trade x[price < 1.0];
