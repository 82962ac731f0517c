STREAM Trade(id STRING, price DOUBLE) ID id TIME at DERIVE op = price * 2.0 OP op;
