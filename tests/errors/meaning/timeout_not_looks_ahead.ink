STREAM Order(id STRING, n INT, t BIGINT) ID id TIME t;
STREAM Pay(id STRING, n INT, t BIGINT) ID id TIME t;
STREAM Ship(id STRING, n INT, t BIGINT) ID id TIME t;
EVENT e AS PATTERN SEQ(Order a, NOT Ship[n = c.n], Pay b, Ship c) WITHIN 5 TICKS ON TIMEOUT late;
