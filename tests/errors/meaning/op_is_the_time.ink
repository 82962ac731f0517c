STREAM Trade(id STRING, account STRING) ID id KEY account TIME at OP at;
