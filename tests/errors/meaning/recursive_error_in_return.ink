STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);

EVENT trip(a.road, a.speed) AS PATTERN Car a RETURN a.id AS car PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, Car b) RETURN name_of(b.id) AS car PER INTERVAL;
