STREAM Car(id STRING, road STRING, speed DOUBLE) ID id KEY raod TIME t ORDER BY id
  DERIVE faster = sped - PREV(speed), linked = linkd(road, 'A1');
STREAM Light(road STRING, color STRING) TIME t DERIVE red = color = PREV(colour);
TABLE joins(road STRING, next STRING) FROM 'roads.csv';

EVENT trip(a.road, a.faster) AS PATTERN Car a PARTITION BY road PER INTERVAL;
EVENT trip(b.road, a.faster + b.faster AS faster) AS PATTERN SEQ(trip a, Car b[linked AND joins(raod, a.road)])
  PARTITION BY road PER INTERVAL;
EVENT trip(b.road, a.faster) AS PATTERN SEQ(trip a, Light b[red AND linkd(road, a.road)]) PARTITION BY road PER INTERVAL;
