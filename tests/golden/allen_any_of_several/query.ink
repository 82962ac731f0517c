STREAM P(id STRING, x BIGINT, started BIGINT, ended BIGINT) ID id TIME FROM started TO ended;
STREAM Q(id STRING, x BIGINT, started BIGINT, ended BIGINT) ID id TIME FROM started TO ended;

EVENT covered(ID(p) AS p, ID(q) AS q) AS
  PATTERN P p {STARTS, FINISHES, EQUALS} Q q;

EVENT touching(ID(p) AS p, ID(q) AS q) AS
  PATTERN P p MEETS Q q;

EVENT overlapping(ID(p) AS p, ID(q) AS q) AS
  PATTERN P p OVERLAPS Q q;

EVENT shared(ID(p) AS p, ID(q) AS q) AS
  PATTERN P p INTERSECTS Q q;
