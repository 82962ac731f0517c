STREAM Car(id STRING, road STRING, speed DOUBLE) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
EVENT maybe AS PATTERN SEQ NEXT(Car a, Light b+ EAGER, Car c?, Light d);
EVENT due AS PATTERN SEQ NEXT(Car a, Light b+ EAGER, NOT Car, AFTER 5 MINUTES);
