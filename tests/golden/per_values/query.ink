STREAM A(id STRING, x BIGINT, t BIGINT) ID id TIME t;
STREAM B(id STRING, x BIGINT, t BIGINT) ID id TIME t;

-- Did it ever happen?
EVENT e(a.x AS x) AS
  PATTERN SEQ(A a, B b)
  PER VALUES;
