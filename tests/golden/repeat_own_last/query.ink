STREAM Temp(id STRING, v DOUBLE, t BIGINT) ID id TIME t;

-- Each reading above the one chosen before it.
EVENT rising(FIRST(x).v AS low, LAST(x).v AS high, COUNT(x) AS n) AS
  PATTERN SEQ NEXT(Temp x[v > LAST(x).v]{2,});
