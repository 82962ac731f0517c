STREAM Trip(id STRING, bus STRING, speed DOUBLE, stop STRING, at TIMESTAMP) ID id KEY bus TIME at;
EVENT e WHERE a.speed > 3 AS PATTERN Trip a;