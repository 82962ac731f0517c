STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);

EVENT trip(a.road, a.speed) AS PATTERN Car a PER INTERVAL;
EVENT trip(a.road, a.speed) AS PATTERN SEQ NEXT(trip a, Car b+ CHECK (linkd(b.road, a.road))) PER INTERVAL;
