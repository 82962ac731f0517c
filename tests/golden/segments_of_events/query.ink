-- Average speeds of sectors, one report a minute.
STREAM Report(id STRING, sector STRING, speed DOUBLE, t BIGINT) ID id KEY sector TIME t
  DERIVE before = PREV(speed);

-- Slow traffic lasts from the first slow report to the first one that is not.
EVENT jam(sector, COUNT(b) AS reports) AS
  PATTERN SEQ STRICT(
    Report a[speed < 40 AND (before IS NULL OR before >= 40)],
    Report b[speed < 40]*,
    Report c[speed >= 40]
  )
  PARTITION BY sector;

-- What m6 opens is never closed, so mid has one jam. West has none, and is compared with nothing.
EVENT together(x.sector AS one, y.sector AS other) AS
  PATTERN AT LEAST 2 jam x INTERSECTS SOME jam y;

-- Jams of a single slow report do not count; east, which has no other, is still there.
EVENT inside(x.sector AS one, y.sector AS other) AS
  PATTERN ALL jam x DURING SOME jam y
  WHERE x.reports > 0;
