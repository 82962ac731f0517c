STREAM Trade(id STRING) ID id TIME at OP sign FOR;
