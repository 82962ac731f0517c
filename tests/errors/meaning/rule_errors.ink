STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
RULE slow(road, tempo) IF limits(road, top) AND speed < top;
RULE quick(road) IF limit(road, top);
RULE quick(road, x) IF limits(road, x);
