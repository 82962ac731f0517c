STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- Every non-empty choice of Bs.
EVENT some(COUNT(b) AS n) AS
  PATTERN SEQ(A a, B b+, C c);
