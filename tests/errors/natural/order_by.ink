STREAM Trip(id STRING, bus STRING, speed DOUBLE, stop STRING, at TIMESTAMP) ID id KEY bus TIME at;
EVENT e AS PATTERN SEQ(Trip a, Trip b) ORDER BY at;