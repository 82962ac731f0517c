-- Congested sectors from reports of vehicles: congestion begins when the mean of three reports falls below 20 km/h, and
-- ends when it rises above.
-- Data: inkling generate motorway

STREAM Report(id BIGINT, day STRING, sector STRING, speed DOUBLE, t TIMESTAMP) ID id KEY day, sector TIME t ORDER BY id
  DERIVE before = PREV(speed), mean = (speed + before + PREV(before)) / 3, mean_before = PREV(mean);

EVENT congested(day, sector) AS
  PATTERN SEQ STRICT(Report a[mean < 20 AND mean_before >= 20], Report m[mean < 20]*, Report z[mean >= 20])
  PARTITION BY day, sector
  PER INTERVAL;

-- The segments of these relations are derived events; no messages open and close them.
EVENT jammed_together(day, x.sector AS one, y.sector AS other) AS
  PATTERN AT LEAST 2 congested x INTERSECTS SOME congested y
  HAVING x.sector < y.sector
  PARTITION BY day;
