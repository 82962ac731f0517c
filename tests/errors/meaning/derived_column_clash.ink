STREAM Car(id STRING, speed DOUBLE) TIME t DERIVE speed = speed * 3.6;
