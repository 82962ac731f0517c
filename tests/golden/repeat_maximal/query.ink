STREAM A(id STRING, k STRING, t BIGINT) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, x BIGINT, t BIGINT) ID id KEY k TIME t;
STREAM C(id STRING, k STRING, t BIGINT) ID id KEY k TIME t;

-- All rising lists of B between A and C that no other B between them extends.
EVENT rising AS
  PATTERN SEQ(A a, B b[x > LAST(b).x]+ MAXIMAL, C c)
  WITHIN 9 TICKS
  PARTITION BY k
  RETURN COUNT(b) AS n;

-- The next B after each other; known when no other B can follow within the window.
EVENT series AS
  PATTERN SEQ NEXT(A a, B b+ MAXIMAL)
  WITHIN 4 TICKS
  PARTITION BY k
  RETURN COUNT(b) AS n;
