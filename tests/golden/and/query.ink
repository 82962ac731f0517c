STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- In any order, even at once.
EVENT both AS
  PATTERN A a AND B b AND C c
  WITHIN 3 TICKS;
