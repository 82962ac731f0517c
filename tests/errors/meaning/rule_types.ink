STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
RULE named(road, 'low') IF limits(road, top) AND top < 50;
RULE named(road, top) IF limits(road, top) AND top >= 50;
RULE mixed(x) IF limits(x, x);
RULE text(road) IF limits(road, top) AND top > 'high';
RULE argument(road) IF limits(road, 'high');
