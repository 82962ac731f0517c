STREAM Trip(id STRING, bus STRING, speed DOUBLE, stop STRING, at TIMESTAMP) ID id KEY bus TIME at;
EVENT e AS PATTERN Trip t[speed > 3 and not bus is None];