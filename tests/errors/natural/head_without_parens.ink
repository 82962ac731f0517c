STREAM Trip(id STRING, bus STRING, speed DOUBLE, stop STRING, at TIMESTAMP) ID id KEY bus TIME at;
EVENT e t.bus AS PATTERN Trip t;