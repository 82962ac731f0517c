STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);

EVENT trip(a.road, a.speed) AS PATTERN Car a PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN trip a AND Cra b PER INTERVAL;
EVENT trip(a.road, a.speed) AS PATTERN trip a DURING Lihgt b PER INTERVAL;
EVENT trip(a.road, a.speed) AS PATTERN trip a PAR Car b[sped > 3] PER INTERVAL;
EVENT trip(a.road, a.speed) AS PATTERN trip a EXCEPT Light b[colour = 'red'] PER INTERVAL;
EVENT trip(a.road, b.speed) AS PATTERN NOT Ligth BETWEEN trip a AND Car b PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(NOT Light, trip a, Car b) PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, OPTIONAL Light l, Car b, COMPLEMENT(Car)) PER INTERVAL;
