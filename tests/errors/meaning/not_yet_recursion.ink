STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
EVENT chain AS PATTERN SEQ(chain a, Car b) PER INTERVAL;
EVENT ping AS PATTERN SEQ(pong a, Car b);
EVENT pong AS PATTERN SEQ(ping a, Car b);
