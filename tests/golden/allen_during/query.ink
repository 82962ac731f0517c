STREAM P(id STRING, x BIGINT, started BIGINT, ended BIGINT) ID id TIME FROM started TO ended;
STREAM Q(id STRING, x BIGINT, started BIGINT, ended BIGINT) ID id TIME FROM started TO ended;

-- The interval is that of the container.
EVENT inside(ID(p) AS p, ID(q) AS q) AS
  PATTERN P p DURING Q q;
