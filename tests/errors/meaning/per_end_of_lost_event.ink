STREAM Pass(car STRING, n BIGINT, t BIGINT) KEY car TIME t NUMBERED BY n;
STREAM Gate(id STRING, car STRING, t BIGINT) ID id KEY car TIME t;

EVENT twice(car) AS PATTERN SEQ(Pass a, Pass b) PARTITION BY car PER END;
EVENT around(car) AS PATTERN SEQ(Pass a, Gate g) PARTITION BY car PER INTERVAL;
EVENT gated(car) AS PATTERN SEQ(Pass a, Gate g) PARTITION BY car PER END;
EVENT quiet(car) AS PATTERN SEQ(Gate g, NOT Pass, Gate h) PARTITION BY car PER INTERVAL;
EVENT later(car) AS PATTERN SEQ(Gate g, twice_again w) PARTITION BY car PER END;
EVENT twice_again(car) AS PATTERN SEQ(Pass a, Pass b?) PARTITION BY car;
EVENT moment(car, END(p) AS at) AS PATTERN Pass p PARTITION BY car;
EVENT told(car) AS PATTERN Pass p PARTITION BY car RETURN END(p) AS at;
