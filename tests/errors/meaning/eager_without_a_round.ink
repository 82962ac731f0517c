STREAM Car(id STRING, road STRING, speed DOUBLE) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
EVENT maybe AS PATTERN SEQ NEXT(Car a, Light b* EAGER, Car c);
EVENT nothing AS PATTERN SEQ NEXT(Car a, (Light b?){2} EAGER, Car c);
