STREAM Car(id STRING, speed DOUBLE, t TIMESTAMP) ID id TIME t;

EVENT stop(a.id) AS PATTERN Car a[speed = 0] PER INTERVAL;
EVENT stop(a.id) AS PATTERN Car a[speed < 0] PER END;
EVENT fast(a.speed) AS PATTERN Car a[speed > 50];
EVENT fast(a.speed, a.id) AS PATTERN Car a[speed > 100];
EVENT mixed(a.speed AS what) AS PATTERN Car a;
EVENT mixed(a.id AS what) AS PATTERN Car a[speed > 1];
