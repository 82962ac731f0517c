STREAM Car(id STRING, road STRING, speed DOUBLE) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
EVENT waits AS PATTERN SEQ NEXT(Car a, Light b+ EAGER, Car c) WITHIN 5 MINUTES ON TIMEOUT late;
