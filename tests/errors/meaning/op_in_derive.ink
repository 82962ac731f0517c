STREAM Trade(id STRING, price DOUBLE) ID id TIME at DERIVE was = PREV(op) OP op FOR 1 HOUR;
