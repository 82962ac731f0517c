TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
TABLE closed(road STRING, hour BIGINT) FROM 'closed.csv';
RULE too_fast(r, v) IF limits(r, top) AND v > top;

STREAM Car(id STRING, road STRING, speed DOUBLE, t BIGINT) ID id KEY road TIME t
  DERIVE limited = limits(road, _), fast = too_fast(road, speed), fast_before = too_fast(road, PREV(speed));

STREAM Bus(id STRING, road STRING, hour BIGINT, t BIGINT) ID id KEY road TIME t
  DERIVE hour_before = PREV(hour)
  RESET WHEN closed(road, hour);

EVENT braked(c.road AS road, c.speed AS speed) AS PATTERN Car c[fast_before AND NOT fast];

EVENT unlimited(c.road AS road) AS PATTERN Car c[NOT limited];

EVENT follows(road) AS PATTERN SEQ NEXT(Car a[fast], Car b[fast]) PARTITION BY road;

EVENT bus(b.id AS bus, b.hour_before AS hour_before) AS PATTERN Bus b;
