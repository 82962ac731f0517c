STREAM Trade(id STRING, account STRING, op STRING) ID id KEY account TIME at OP op FOR 1 HOUR;

EVENT big AS PATTERN SEQ(Trade x[op = '+'], Trade y) WHERE y.op <> '-' PARTITION BY account;
