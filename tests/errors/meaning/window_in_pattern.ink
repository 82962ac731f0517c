STREAM Car(id STRING, road STRING, speed DOUBLE) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
EVENT a AS PATTERN SEQ(Light a, WINDOW Car w LAST 3 EVENTS) RETURN AVG(w.speed) AS mean;
EVENT b AS PATTERN SEQ NEXT(Light a, WINDOW Car w LAST 3 EVENTS SINCE a) RETURN AVG(w.speed) AS mean;
EVENT c(mean) AS PATTERN WINDOW Car w LAST 3 EVENTS WHERE mean = AVG(w.speed);
EVENT c(mean) AS PATTERN Car a WHERE mean = a.speed;
