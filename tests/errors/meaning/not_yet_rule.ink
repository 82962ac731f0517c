STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
RULE slow(road, speed) IF limits(road, top) AND speed < top;
EVENT stop(x) AS PATTERN Car a WHERE slow(a.road, x) AND x < 3;
