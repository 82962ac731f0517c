STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- A B at the border of the gap does no harm.
EVENT quiet AS
  PATTERN SEQ(A a, NOT B, C c);
