STREAM Car(id STRING, speed DOUBLE) TIME t DERIVE jump = a.speed - speed;
