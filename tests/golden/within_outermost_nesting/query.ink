STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;

-- Parentheses around everything are no different from none.
EVENT close AS
  PATTERN (SEQ(A a, B b) WITHIN 2 TICKS);
