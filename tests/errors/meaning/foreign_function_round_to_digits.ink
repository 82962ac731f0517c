STREAM Car(id STRING, speed DOUBLE) KEY id TIME t;
EVENT fast AS PATTERN Car c[round(speed, 2) > 3];
