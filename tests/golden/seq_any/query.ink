STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- Every choice of an A, a later B and a still later C.
EVENT six(ID(a) AS first, ID(c) AS last) AS
  PATTERN SEQ(A a, B b, C c);
