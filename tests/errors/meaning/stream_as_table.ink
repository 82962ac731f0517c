STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
EVENT fast AS PATTERN Car a HAVING Light(a.road, color);
