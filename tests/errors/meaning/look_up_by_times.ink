STREAM Car(id STRING, t INT) ID id TIME t;
TABLE shifts(begin INT, worker STRING) FROM 'shifts.csv';
EVENT shift(worker) AS PATTERN (Car a OR SEQ(Car b, Car c)) v WHERE shifts(START(v), worker);
