STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
RULE slow(road, speed) IF limits(road, top) AND speed < top;
RULE class(speed, 'slow') IF speed < 10;
EVENT stop(x) AS PATTERN Car a WHERE slow(a.road, x) AND x < 3;
EVENT named(c) AS PATTERN Car a WHERE class(_, c);
EVENT odd AS PATTERN Car a WHERE class(a.road, 'slow');
EVENT worse AS PATTERN Car a WHERE class(a.speed, 3) OR slow(a.road);
