STREAM Car(id STRING) ID number KEY plate TIME t ORDER BY seq;
