STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- What the other branch would bind is null.
EVENT either(ID(a) AS a, ID(b) AS b) AS
  PATTERN SEQ(A a OR B b, C c);
