STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;

-- Simultaneous events never follow each other without ORDER BY.
EVENT after AS
  PATTERN SEQ(A a, B b);
