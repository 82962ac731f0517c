STREAM Car(id STRING, road STRING, speed DOUBLE) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
EVENT a AS PATTERN WINDOW Car w[limits(road, top) AND speed > top] LAST 3 EVENTS RETURN COUNT(w) AS n, top;
EVENT many(top) AS PATTERN SEQ(Light l, Car c[limits(road, top)]+);
EVENT same AS PATTERN SEQ(Car c[limits(road, top)]+, Car d[limits(road, top)]);
