STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- An A and a C with a B somewhere between, on an interval with no other A or C inside.
EVENT pure AS
  PATTERN SEQ(A, B, C) EQUALS (NOT (A OR C) BETWEEN A AND C)
  PER INTERVAL;
