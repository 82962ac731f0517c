STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);

EVENT trip(a.road, a.speed) AS PATTERN Car a PARTITION BY road CONSUME RECENT KEEP FOR 3 TICKS PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, Car b) WHERE linkd(a.road, b.road)
  PARTITION BY raod CONSUME RECENT KEEPING KEEP FOR 5 TICKS PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ NEXT(trip a, Cra b)
  PARTITION BY road CONSUME RECENT PREFER b.sped KEEP FOR 3 TICKS PER INTERVAL;
EVENT trip(b.road, b.speed) AS PATTERN SEQ(trip a, Car b) HAVING a.speed > sqroot(b.speed)
  PARTITION BY road CONSUME RECENT KEEP FOR 3 TICKS RETURN b.sped AS last CONFIDENCE > 1 PER INTERVAL;
