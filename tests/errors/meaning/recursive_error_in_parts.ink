STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);

EVENT trip(a.road, a.speed) AS PATTERN Car a PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, (SEQ(Light l, Car b) WHERE linkd(l.road, b.road))) PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ((trip a WHERE a.sped > 3), Car b) PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a[speed > b.speed], Car b) PER INTERVAL;
EVENT trip(a.road, a.speed) AS PATTERN SEQ(trip a, Car a) PER INTERVAL;
EVENT trip(l.road, b.speed) AS PATTERN SEQ(trip a, NOT Light l, Car b) PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, Car | Light b) PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[speed > PREV(speed)]) PER INTERVAL;
