STREAM Car(id STRING, t TIMESTAMP) ID id TIME t;

EVENT chain(b.id) AS PATTERN SEQ(chain a, Car b) PER INTERVAL;
EVENT ping(p.id) AS PATTERN SEQ(pong p, Car b) PER INTERVAL;
EVENT pong(p.id) AS PATTERN SEQ(ping p, Car b) PER INTERVAL;
