STREAM Trip(id STRING, bus STRING, speed DOUBLE, stop STRING, at TIMESTAMP) ID id KEY bus TIME at;
EVENT e(t.bus + t.stop AS s) AS PATTERN Trip t;