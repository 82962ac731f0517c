STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;
STREAM D(id STRING, t BIGINT) ID id TIME t;

-- One sequence after rewriting.
EVENT four AS
  PATTERN SEQ(A a, SEQ(B b, C c), D d)
  WITHIN 6 TICKS;
