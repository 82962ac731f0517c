STREAM A(id STRING, x DOUBLE, t BIGINT) ID id TIME t;
STREAM B(id STRING, x DOUBLE, t BIGINT) ID id TIME t;
STREAM C(id STRING, x DOUBLE, t BIGINT) ID id TIME t;

EVENT above(COUNT(b) AS n) AS
  PATTERN SEQ NEXT(A a, B b[x > AVG(b.x) AND (COUNT(b) > 0 OR x > a.x)]+ EAGER, C c);

EVENT two AS
  PATTERN SEQ(A a, B b[COUNT(b) < 2 AND x >= MAX(b.x)]+, C c);
