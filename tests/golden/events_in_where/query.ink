STREAM A(id STRING, x BIGINT, t BIGINT) ID id TIME t;
STREAM B(id STRING, x BIGINT, t BIGINT) ID id TIME t;
STREAM L(id STRING, a BIGINT, b BIGINT, t BIGINT) ID id TIME t;

-- Two links in a row.
EVENT linked(l.a AS a, c AS b) AS
  PATTERN L l WHERE L(_, l.b, c)
  WITHIN 9 TICKS;

-- An A and a later B that are linked by then.
EVENT pair(a.x AS x, b.x AS y) AS
  PATTERN SEQ(A a, B b) WHERE linked(a.x, b.x)
  WITHIN 6 TICKS;

-- Each link of an A to a place where no B has been.
EVENT free(a.x AS x, y AS y) AS
  PATTERN A a WHERE NOT B(_, y) AND L(_, a.x, y)
  WITHIN 3 TICKS;

EVENT alone(a.x AS x) AS
  PATTERN A a WHERE NOT linked(a.x, _)
  WITHIN 3 TICKS;
