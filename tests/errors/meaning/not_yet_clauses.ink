STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
EVENT b2 AS PATTERN SEQ(Car a, Light b) TOP 3;
EVENT b4 AS PATTERN SEQ(Car a, Light b) SAMPLED;
EVENT b5 AS PATTERN SEQ(b4 a, Light b) HAVING ID(b) = 3;
