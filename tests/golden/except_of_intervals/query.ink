STREAM P(id STRING, started BIGINT, ended BIGINT) ID id TIME FROM started TO ended;
STREAM Q(id STRING, started BIGINT, ended BIGINT) ID id TIME FROM started TO ended;

-- One interval can be reached in two ways; one of them has a Q inside.
EVENT by_match(ID(a) AS a, ID(b) AS b) AS
  PATTERN SEQ(P a, NOT Q, P b);

EVENT by_interval(ID(a) AS a, ID(b) AS b) AS
  PATTERN SEQ(P a, P b) EXCEPT SEQ(P, Q, P);
