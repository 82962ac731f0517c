STREAM Trade(id STRING, account STRING, price DOUBLE) ID id KEY account TIME at OP op FOR 1 HOUR;

EVENT big AS PATTERN Trade x[price > 100.0] PARTITION BY account ON RETRACT undo;

EVENT small AS PATTERN Trade x[price < 1.0] ON RETRACT undo;
