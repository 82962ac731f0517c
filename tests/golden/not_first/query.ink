STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- No C in the six ticks before the end.
EVENT fresh AS
  PATTERN SEQ(NOT C, A a, B b)
  WITHIN 6 TICKS;
