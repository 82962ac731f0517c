STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
EVENT fast(area) AS
  PATTERN SEQ(Car a, NOT Light b, Lght c)
  WHERE a.sped > 100 AND b.color = 3 AND c.anything = 4
  PARTITION BY roads;
EVENT faster AS PATTERN SEQ(fast f, Car a) WHERE f.area = a.road AND a.speed > 'x';
