STREAM Car(id STRING, road STRING, speed DOUBLE, t BIGINT) ID id KEY road TIME t;
STREAM Light(id STRING, road STRING, t BIGINT) ID id KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
TABLE leads_to(road STRING, next STRING) FROM 'leads_to.csv';
RULE above(road, speed, top) IF limits(road, top) AND speed > top;

-- A car is a member once, although road a1 has two limits.
EVENT above_one(n) AS
  PATTERN WINDOW Car w[limits(road, top) AND speed > top] LAST 3 EVENTS
  WHERE n = COUNT(w);

-- The same car must exceed the limit of one next road.
EVENT too_fast_for_next(n) AS
  PATTERN WINDOW Car w[leads_to(road, next) AND above(next, speed, top) AND top > 40] LAST 5 TICKS
  WHERE n = COUNT(w);

-- Windows of their own for each light and each limit of its road.
EVENT since_light(top) AS
  PATTERN SEQ(Light l[limits(road, top)], WINDOW Car w[road = l.road AND speed > top] LAST 2 EVENTS SINCE l)
  RETURN COUNT(w) AS n;

-- A limit of the road of the light.
EVENT any_since_light AS
  PATTERN SEQ(Light l, WINDOW Car w[limits(l.road, top) AND speed > top] LAST 2 EVENTS SINCE l)
  RETURN COUNT(w) AS n
  ON CHANGE;
