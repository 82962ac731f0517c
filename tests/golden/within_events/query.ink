STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- The Cs count although the pattern does not ask for them.
EVENT close AS
  PATTERN SEQ(A a, B b)
  WITHIN 3 EVENTS
  OVER (A, B, C);
