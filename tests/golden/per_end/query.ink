STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;

-- Existential in everything that the head does not name.
EVENT e AS
  PATTERN SEQ(A a, B b)
  PER END;
