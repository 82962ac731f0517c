STREAM Car(id STRING, road STRING) ID id KEY raod TIME t;
