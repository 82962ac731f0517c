STREAM Congestion(id STRING, sector STRING, started BIGINT, ended BIGINT) ID id KEY sector TIME FROM started TO ended;

-- Sharing is not symmetric: one long segment touches two short ones, but is only one itself.
EVENT share(x.sector, y.sector) AS
  PATTERN AT LEAST 2 Congestion x INTERSECTS SOME Congestion y;
