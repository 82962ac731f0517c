STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
RULE quick(road) IF limits(road, top) AND speed > top;
RULE odd(road, lane) IF limits(road, _);
RULE linked(north, 'south');
RULE every(_) IF limits(_, _);
RULE known(road) IF limits(road, top) AND NOT (limits(other, low) AND low > top);
