STREAM Trade(id STRING) ID id TIME at OP op FOR 1 HOUR OP op;
