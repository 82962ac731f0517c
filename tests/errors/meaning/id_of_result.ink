STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
EVENT stop AS PATTERN SEQ(Car a, Light b);
EVENT named(ID(a) AS id) AS PATTERN stop a;
EVENT two AS PATTERN stop a AND stop b HAVING ID(a) < ID(b);
