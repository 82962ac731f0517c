STREAM Car(id STRING, speed DOUBLE, t TIMESTAMP) ID id TIME t;

EVENT faster(a.speed) AS PATTERN Car a RETURN a.id PER INTERVAL;
EVENT faster(b.speed) AS PATTERN SEQ(faster a, Car b[speed > a.speed]) RETURN b.id PER INTERVAL;
