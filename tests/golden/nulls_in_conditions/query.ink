STREAM R(id STRING, x BIGINT, y BIGINT, t BIGINT) ID id TIME t;

-- A comparison with nothing is false, and its negation is true.
EVENT less AS
  PATTERN R r[x < y];

EVENT not_less AS
  PATTERN R r[NOT x < y];

EVENT missing AS
  PATTERN R r[x IS NULL OR y IN (1, 2)];
