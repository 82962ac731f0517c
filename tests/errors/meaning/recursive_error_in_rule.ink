STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other);
RULE linked(one, other) IF linked(one, middle) AND joined(middle, other);
RULE linked(one, other) IF linked(one, middle, other) AND joins(middle, other);
RULE linked(one, other) IF linked(one, other) AND lenght(one) > 3;

EVENT trip(a.road, a.speed) AS PATTERN Car a PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[linked(road, a.road)]) PER INTERVAL;
