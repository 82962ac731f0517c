STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
RULE below(speed, road) IF limits(road, top) AND speed < top;
RULE below(speed, road) IF below(speed, other) AND limits(other, _) AND limits(road, _);
