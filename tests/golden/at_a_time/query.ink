STREAM A(id STRING, k STRING, t BIGINT) ID id TIME t;

-- Known when the time has come, for every key.
EVENT before(k, ID(a) AS a) AS
  PATTERN SEQ(A a, NOT A b, AT 10)
  WITHIN 8 TICKS
  PARTITION BY k;

EVENT between(ID(a) AS a) AS
  PATTERN A a DURING SEQ(AT 3, AT 9);
