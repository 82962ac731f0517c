STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);

EVENT trip(a.road, a.speed) AS PATTERN Car a PER INTERVAL;
EVENT trip(r.road, r.speed) AS PATTERN SEQ(rest r, Cra b) PER INTERVAL;
EVENT rest(a.road, b.speed) AS PATTERN SEQ(stop a, Car b[linkd(road, a.road)]) PER INTERVAL;
EVENT stop(a.road) AS PATTERN SEQ(trip a, Light b) HAVING b.colour = 'red' AND linkd(a.road, b.road) PER INTERVAL;
EVENT stop(b.road) AS PATTERN Light b WHERE b.color > 3 PER INTERVAL;
