STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';

EVENT Car(a.id, b.rode AS road, a.speed) AS PATTERN SEQ(Car a, Car b[speed > a.sped]) WHERE joint(a.road, b.road)
  PER INTERVAL;
EVENT Car(a.id, a.road, a.speed) AS PATTERN SEQ(Cra a, Car b) HAVING roud = 'A1' PER INTERVAL;
