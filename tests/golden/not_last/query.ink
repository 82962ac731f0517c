STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- Killed by a C at 3, 4 or 5, not by one at 2 or 6; known once the window is over.
EVENT unanswered AS
  PATTERN SEQ(A a, B b, NOT C)
  WITHIN 5 POINTS;
