STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
RULE fine(road) IF limits(road, _) AND NOT bad(road);
RULE bad(road) IF limits(road, top) AND top < 10 AND NOT fine(road);
RULE alone(road) IF limits(road, _) AND NOT alone(road);
