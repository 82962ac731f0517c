STREAM Car(id STRING, road STRING, speed DOUBLE) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
EVENT any AS PATTERN SEQ(Car a, Light b+ EAGER, Car c);
EVENT alone AS PATTERN Light b+ EAGER;
EVENT nested AS PATTERN SEQ NEXT(Car a, (Light b+ EAGER) x, Car c);
