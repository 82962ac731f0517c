STREAM Trip(id STRING, bus STRING, speed DOUBLE, stop STRING, at TIMESTAMP) ID id KEY bus TIME at;
SELECT bus, AVG(speed) FROM Trip GROUP BY bus;