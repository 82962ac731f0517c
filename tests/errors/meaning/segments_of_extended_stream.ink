STREAM Jam(road STRING, length DOUBLE) KEY road TIME FROM since TO until;
STREAM Alarm(road STRING) KEY road TIME t;
EVENT Jam(a.road, 0.0 AS length) AS PATTERN SEQ(Alarm a, Alarm b[road = a.road]) PARTITION BY road;
EVENT together(x.road, y.road AS other) AS PATTERN SOME Jam x INTERSECTS SOME Jam y;
