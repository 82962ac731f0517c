STREAM Trade(id STRING, account STRING, price DOUBLE) ID id KEY account TIME at LATENESS 10 MINUTES;

EVENT big AS PATTERN Trade x[price > 100.0] PARTITION BY account ON RETRACT undo;
