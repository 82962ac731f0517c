STREAM Car(id STRING, speed DOUBLE) TIME t DERIVE jump = sped - PREV(speed);
