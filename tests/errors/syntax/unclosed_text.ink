EVENT parked AS PATTERN V v[engine = 'parked];
STREAM B(x INT) TIME t;
