STREAM Car(id STRING, size INT) TIME t;
STREAM Bus(id STRING, size STRING) TIME t;
EVENT big AS PATTERN Car | Bus v WHERE v.size = 3;
