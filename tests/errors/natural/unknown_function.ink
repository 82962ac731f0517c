STREAM Trip(id STRING, bus STRING, speed DOUBLE, stop STRING, at TIMESTAMP) ID id KEY bus TIME at;
EVENT e(distance(t.speed, 3) AS s) AS PATTERN Trip t;