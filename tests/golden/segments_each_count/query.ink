STREAM Congestion(id STRING, sector STRING, road INT, started BIGINT, ended BIGINT)
  ID id
  KEY sector
  TIME FROM started TO ended;

-- One result for every number of shared segments, up to four.
EVENT share(x.sector, y.sector, k) AS
  PATTERN AT LEAST k FROM 1 TO 4 Congestion x INTERSECTS SOME Congestion y
  WHERE x.road < 9
  HAVING k > 1 OR x.sector = 'north';
