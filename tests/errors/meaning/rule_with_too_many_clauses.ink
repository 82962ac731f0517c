STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
RULE many(road) IF (limits(road, 0) OR limits(road, 1)) AND (limits(road, 2) OR limits(road, 3)) AND (limits(road, 4) OR limits(road, 5)) AND (limits(road, 6) OR limits(road, 7)) AND (limits(road, 8) OR limits(road, 9)) AND (limits(road, 10) OR limits(road, 11)) AND (limits(road, 12) OR limits(road, 13)) AND (limits(road, 14) OR limits(road, 15)) AND (limits(road, 16) OR limits(road, 17));
