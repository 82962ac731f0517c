STREAM Car(id STRING, road STRING, speed DOUBLE) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
EVENT a(color) AS PATTERN Light a WHERE color = a.color ON CHANGE;
