STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(id STRING, road STRING) ID id TIME t;
EVENT odd AS PATTERN Car a EXCEPT Light b[road = a.road] HAVING b.road = 'x';
