STREAM A(id STRING, k STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, k STRING, t BIGINT) ID id TIME t;

EVENT pair(a.k AS k) AS
  PATTERN SEQ(A a, B b[k = a.k])
  WITHIN 10 TICKS;

-- the same under other names
EVENT couple(x.k AS key) AS
  PATTERN SEQ(A x, B y[k = x.k])
  WITHIN 10 TICKS;

-- the same, and more
EVENT triple(a.k AS k) AS
  PATTERN SEQ(A a, B b[k = a.k], A c[k = a.k])
  WITHIN 10 TICKS;
