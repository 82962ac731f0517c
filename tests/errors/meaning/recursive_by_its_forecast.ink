STREAM Car(id INT, road STRING) ID id TIME t ORDER BY id;

EVENT jam(a.road) AS PATTERN SEQ(Car a, Car b) PER INTERVAL;
EVENT jam(a.road) AS PATTERN SEQ(soon s, Car a) PER INTERVAL;
FORECAST soon OF jam POINT;
