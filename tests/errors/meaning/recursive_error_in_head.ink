STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);

EVENT trip(a.road, a.speed) AS PATTERN Car a PER INTERVAL;
EVENT trip(b.road, round_up(b.speed)) AS PATTERN SEQ(trip a, Car b) PER INTERVAL;
EVENT trip(b.road, MAX(a.speed) AS speed) AS PATTERN SEQ(trip a, Car b[speed > a.speed]) PER INTERVAL;
EVENT trip(b.rod, c.speed) AS PATTERN SEQ(trip a, Car b) PER INTERVAL;
