STREAM A(id STRING, k STRING, x BIGINT, t BIGINT) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, x BIGINT, t BIGINT) ID id KEY k TIME t;
STREAM C(id STRING, k STRING, x BIGINT, t BIGINT) ID id KEY k TIME t;

-- Every pair of A and C, with each B between them that is not smaller, or with nulls.
EVENT between(b.x AS x) AS
  PATTERN SEQ(A a, OPTIONAL B b[x >= a.x], C c)
  WITHIN 9 TICKS
  PARTITION BY k;

-- An A without B is known when its window is over.
EVENT after(b.x AS x) AS
  PATTERN SEQ(A a, OPTIONAL B b)
  WITHIN 4 TICKS
  PARTITION BY k;
