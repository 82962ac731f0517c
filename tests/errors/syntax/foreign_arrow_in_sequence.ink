STREAM Car(id STRING, speed DOUBLE) KEY id TIME t;
EVENT fast AS PATTERN SEQ(Car a -> Car b);
