STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
EVENT e AS PATTERN SEQ(Car a, Light b) CONSUME RECENT PREFER a.speed;
EVENT e AS PATTERN SEQ(Light b, Car a) CONSUME RECENT PREFER a.speed;
