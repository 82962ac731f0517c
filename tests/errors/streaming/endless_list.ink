STREAM Car(id STRING, road STRING, n INT, at TIMESTAMP) ID id KEY road TIME at ORDER BY n;
EVENT queue AS PATTERN SEQ STRICT(Car a[n = 1], Car b[n > 1]+, Car c[n = 0]) PARTITION BY road PER END;
