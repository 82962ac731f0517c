STREAM A(id STRING, k STRING, x BIGINT, t BIGINT) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, x BIGINT, t BIGINT) ID id KEY k TIME t;
STREAM P(id STRING, k STRING, x BIGINT, s BIGINT, t BIGINT) ID id KEY k TIME FROM s TO t;

-- Every A with each B of the last 5 ticks that is not smaller, or with nulls.
EVENT joined(a.k AS k, b.x AS x) AS
  PATTERN A a OPTIONAL B b[k = a.k AND x >= a.x]
  WITHIN 5 TICKS;

-- Intervals of P with the As that they end with, or alone.
EVENT ended(a.x AS x) AS
  PATTERN P p OPTIONAL {FINISHED_BY, EQUALS} A a
  WITHIN 9 TICKS
  PARTITION BY k;

-- A P that no pair of A and B has happened during.
EVENT bare(ID(p) AS p) AS
  PATTERN P p OPTIONAL CONTAINS SEQ(A a, B b) OPTIONAL PRECEDED_BY (P q[x = p.x] AND A c)
  WITHIN 9 TICKS
  HAVING a.x IS NULL
  PARTITION BY k
  RETURN q.x AS before;
