STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);

EVENT trip(a.road, a.speed) AS PATTERN Car a PER INTERVAL;
EVENT trip(b.road, b.road + 1 AS speed) AS PATTERN SEQ(trip a, Car b) PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[linked(speed, a.road) AND joins(a.road, 3)]) PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[linked(road)]) WHERE b.speed AND a.road = NULL PER INTERVAL;
EVENT trip(b.road, greatest() AS speed) AS PATTERN SEQ(trip a, Car b) PER INTERVAL;
