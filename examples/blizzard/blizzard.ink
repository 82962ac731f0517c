-- Weather stations that report every half hour: blizzards that settle at a station, and how they spread.
-- Data: inkling generate blizzard

STREAM Weather(id BIGINT, station STRING, wind DOUBLE, condition STRING, visibility DOUBLE, t TIMESTAMP)
  ID id KEY station TIME t;

TABLE stations(station STRING, lat DOUBLE, lon DOUBLE) FROM 'stations.csv';

RULE neighbors(a, b) IF
  stations(a, lat_a, lon_a) AND stations(b, lat_b, lon_b) AND km = great_circle(lat_a, lon_a, lat_b, lon_b, 6378.137)
  AND km > 0 AND km < 300;

EVENT severe(station) AS
  PATTERN Weather w[wind > 35 AND condition = 'snow' AND visibility < 0.25]
  PARTITION BY station;

-- The number of severe readings since the start of the interval. Of intervals with the same end only the longest
-- continues, so there is one running count per station.
EVENT settling(station, n) AS
  PATTERN severe s
  WHERE n = 1
  PARTITION BY station
  CONSUME RECENT PREFER LONGER
  PER INTERVAL;

EVENT settling(station, n) AS
  PATTERN SEQ(settling p, severe s)
  WHERE n = p.n + 1
  WITHIN 12 HOURS
  PARTITION BY station
  CONSUME RECENT PREFER LONGER
  PER INTERVAL;

-- Once per blizzard and station.
EVENT warning(station) AS
  PATTERN settling s[n > 4]
  WHERE END(s) - START(s) > 3 HOURS
  PARTITION BY station
  CONSUME RESTART;

-- From the first warned station to the latest one, in steps between neighbors.
EVENT area(w.station AS first, w.station AS last) AS
  PATTERN warning w
  PER INTERVAL;

EVENT area(a.first AS first, w.station AS last) AS
  PATTERN warning w ENDS_AFTER area a
  WHERE neighbors(a.last, w.station)
  WITHIN 9 HOURS
  PER INTERVAL;

EVENT blizzard_area(a.first AS first, a.last AS last) AS
  PATTERN area a
  WHERE a.first <> a.last
  PER INTERVAL;
