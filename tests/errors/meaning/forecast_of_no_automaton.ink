STREAM Car(id STRING, road STRING, speed DOUBLE) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
EVENT stop AS PATTERN SEQ(Car a, Light b);
FORECAST stop WITHIN 10 EVENTS;
