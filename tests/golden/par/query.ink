STREAM P(id STRING, x BIGINT, started BIGINT, ended BIGINT) ID id TIME FROM started TO ended;
STREAM Q(id STRING, x BIGINT, started BIGINT, ended BIGINT) ID id TIME FROM started TO ended;

-- At the same time for a while; touching is not enough.
EVENT together(ID(p) AS p, ID(q) AS q) AS
  PATTERN P p PAR Q q;
