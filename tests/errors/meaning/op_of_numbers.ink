STREAM Trade(id STRING, op INT) ID id TIME at OP op FOR 1 HOUR;
