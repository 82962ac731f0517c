STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- With and without the B.
EVENT maybe(ID(b) AS b) AS
  PATTERN SEQ(A a, B b?, C c);
