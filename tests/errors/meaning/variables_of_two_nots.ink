STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
EVENT lost AS PATTERN SEQ(Car a, NOT Light b, Car c, NOT Light d, Car e) WHERE b.color = d.color;
