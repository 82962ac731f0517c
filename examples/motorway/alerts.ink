-- Sectors that are congested together three times, emitted as soon as the probability certainly is high enough.
-- Data: inkling generate motorway

STREAM Congestion(id STRING, day STRING, sector STRING, role STRING, n BIGINT, t TIMESTAMP)
  ID id KEY day, sector TIME t NUMBERED BY n SEGMENTS ROLE role;

EVENT jammed(day, x.sector AS one, y.sector AS other) AS
  PATTERN AT LEAST 3 Congestion x INTERSECTS SOME Congestion y
  HAVING x.sector < y.sector
  PARTITION BY day
  CONFIDENCE > 0.5 EARLY;
