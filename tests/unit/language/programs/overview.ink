-- certain points; certain intervals
STREAM Traffic(id STRING, road STRING, speed DOUBLE, lat DOUBLE, lon DOUBLE) ID id KEY road TIME t;
STREAM Shift(worker STRING) KEY worker TIME FROM started TO ended;
STREAM Cpu(node STRING, value DOUBLE) KEY node TIME BETWEEN lo AND hi;
STREAM At(person STRING, room STRING) KEY person TIME t PROBABILITY p;
STREAM Seen(person STRING, room STRING) KEY person TIME t PROBABILITY p GIVEN previous_room;  -- first rows
STREAM Congestion(sector STRING, role STRING) KEY sector TIME t NUMBERED BY seq SEGMENTS ROLE role;

STREAM Vehicle(id STRING, vehicle STRING, engine STRING, speed DOUBLE, lat DOUBLE, lon DOUBLE) ID id KEY vehicle TIME t ORDER BY id
  DERIVE distance = haversine(PREV(lat), PREV(lon), lat, lon), duration = SINCE_CHANGE(engine);

TABLE threshold(road STRING, top DOUBLE) FROM 'thresholds.csv';
RULE slow(road, speed) IF threshold(road, top) AND speed < top;
RULE linked(x, y) IF edge(x, y);
RULE linked(x, z) IF linked(x, y) AND edge(y, z);

EVENT bottleneck(area) AS
  PATTERN SEQ(Traffic a, Traffic b)
  WHERE a.road = b.road AND slow(a.road, a.speed) AND slow(b.road, b.speed)
    AND area_of(area, a.lat, a.lon) AND area_of(area, b.lat, b.lon)
  WITHIN 30 MINUTES
  PER INTERVAL;

EVENT route AS
  PATTERN SEQ STRICT(Vehicle[engine = 'off' AND duration > 30], Vehicle[engine = 'moving']+,
                     Vehicle[engine = 'off' AND duration > 30])
  PARTITION BY vehicle PER END;

EVENT maxed_out(a, b, c) AS
  PATTERN SEQ ANY(TaskStart a, Cpu b, TaskFinish c, Cpu d)
  WHERE a.task = c.task AND b.node = a.node AND d.node = a.node AND b.value > 95 AND d.value <= 70
  WITHIN 15 SECONDS
  CONFIDENCE >= 0.2;

EVENT coffee(person) AS
  PATTERN SEQ NEXT(At a[office(person, room)], At b[hallway(room)]+, At c[coffee_room(room)])
  PARTITION BY person PER END;

EVENT jointly_congested(x.sector, y.sector) AS
  PATTERN AT LEAST 2 Congestion x INTERSECTS SOME Congestion y;

FORECAST route WITHIN 10 EVENTS CONFIDENCE >= 0.7 ORDER 3;
