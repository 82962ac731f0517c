STREAM Car(id STRING, speed DOUBLE) ID id;
