-- Buoys that measure the height of the sea every 45 seconds, in millimeters.
-- Data: inkling generate tsunami

STREAM Level(id BIGINT, buoy STRING, height DOUBLE, t TIMESTAMP) ID id KEY buoy TIME t;

EVENT recent(buoy, mean) AS
  PATTERN WINDOW Level w LAST 1 HOURS
  WHERE mean = AVG(w.height)
  PARTITION BY buoy;

-- The first windows of a buoy are not full yet.
EVENT hourly(buoy, r.mean AS mean, START(r) AS began, END(r) AS ended) AS
  PATTERN recent r
  WHERE END(r) - START(r) = 1 HOURS
  PARTITION BY buoy;

-- Four consecutive hours predict the height of the sea five and a quarter minutes later. `MEETS` would be
-- enough; the equal columns allow the partner to be looked up.
EVENT alarm(buoy, deviation) AS
  PATTERN SEQ((hourly a MEETS hourly b[began = a.ended] MEETS hourly c[began = b.ended] MEETS hourly d[began = c.ended]),
              Level now[t = d.ended + 315 SECONDS])
  WHERE deviation = now.height - (1.16818457031250 * d.mean - 0.28197558593750 * c.mean
                                  + 0.14689746093750 * b.mean - 0.03310644531250 * a.mean)
  HAVING deviation > 30 OR deviation < -30
  WITHIN 5 HOURS
  PARTITION BY buoy;
