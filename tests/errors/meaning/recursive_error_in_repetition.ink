STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);

EVENT trip(a.road, a.speed) AS PATTERN Car a PER INTERVAL;
EVENT trip(a.road, b.speed) AS PATTERN SEQ(trip a, Car b+) PER INTERVAL;
EVENT trip(a.road, SUM(b.sped) AS speed) AS PATTERN SEQ(trip a, Car b+) PER INTERVAL;
EVENT trip(a.road, a.speed) AS PATTERN SEQ(trip a, Car b+) HAVING SUM(b.road) > 1 AND linkd(a.road, LAST(b).road)
  PER INTERVAL;
EVENT trip(a.road, a.speed) AS PATTERN SEQ(trip a, Car b+ EAGER, Car c) PER INTERVAL;
