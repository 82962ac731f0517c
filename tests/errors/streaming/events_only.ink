STREAM Car(id STRING, road STRING, n INT, at TIMESTAMP) ID id KEY road TIME at ORDER BY n;
EVENT pair AS PATTERN SEQ(Car a, Car b[road = a.road]) WITHIN 4 EVENTS;
