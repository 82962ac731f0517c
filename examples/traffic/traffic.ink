-- Road sensors that read the speed of the traffic every five minutes: from readings to bottlenecks.
-- Data: inkling generate traffic

STREAM Reading(id BIGINT, road STRING, t TIMESTAMP, lane INT, mph DOUBLE, x DOUBLE, y DOUBLE) ID id KEY road TIME t;

TABLE limits(road STRING, slow DOUBLE) FROM 'limits.csv';
TABLE areas(area STRING, shape STRING) FROM 'areas.csv';
TABLE flows(area STRING, next STRING) FROM 'flows.csv';
TABLE subscribers(name STRING, road STRING) FROM 'subscribers.csv';

-- Borders belong to no area.
RULE in_area(area, x, y) IF areas(area, shape) AND contains(shape, x, y);

-- Traffic of an area passes through all areas after it.
RULE downstream(area, next) IF flows(area, next);
RULE downstream(area, last) IF flows(area, next) AND downstream(next, last);

-- Filter, project, translate: a broken sensor sends -1, the lane is dropped, and speeds are in kilometers per hour.
EVENT speed(r.road AS road, 1.609344 * r.mph AS kmh, r.x AS x, r.y AS y) AS
  PATTERN Reading r[mph >= 0];

-- Enrich: the area of the sensor.
EVENT located(s.road AS road, area, s.kmh AS kmh) AS
  PATTERN speed s
  WHERE in_area(area, s.x, s.y);

EVENT slow(l.road AS road, l.area AS area, l.kmh AS kmh) AS
  PATTERN located l
  WHERE limits(l.road, limit) AND l.kmh < limit;

-- Split: one notice for every subscriber of the road.
EVENT notice(name, s.road AS road, s.area AS area, s.kmh AS kmh) AS
  PATTERN slow s
  WHERE subscribers(name, s.road);

-- Aggregate: the mean speed on a road in the last hour.
EVENT hourly(road, kmh) AS
  PATTERN WINDOW speed w LAST 1 HOUR
  WHERE kmh = AVG(w.kmh)
  PARTITION BY road;

-- Compose: traffic was slow twice on the same road and in the same area.
EVENT bottleneck(a.area AS area, a.road AS road) AS
  PATTERN SEQ(slow a, slow b)
  WHERE b.road = a.road AND b.area = a.area
  WITHIN 30 MINUTES
  PER INTERVAL;

-- A jam grows against the traffic: traffic is slow in one area, then in an area that leads to it.
EVENT growing(a.road AS road, a.area AS origin, b.area AS area) AS
  PATTERN SEQ(slow a, slow b)
  WHERE b.road = a.road AND downstream(b.area, a.area)
  WITHIN 30 MINUTES
  PER INTERVAL;

-- No slow reading for half an hour: the bottleneck is over.
EVENT dissolved(b.area AS area, b.road AS road) AS
  PATTERN SEQ(bottleneck b, NOT slow s[road = b.road AND area = b.area], AFTER 30 MINUTES)
  PER END;
