-- Only the order of lost events counts, so that they can be counted out.
STREAM Gate(car STRING, n BIGINT, role STRING, t BIGINT) KEY car TIME t NUMBERED BY n SEGMENTS ROLE role;
STREAM Horn(id STRING, car STRING, t BIGINT) ID id KEY car TIME t;

EVENT inside(car) AS
  PATTERN SEQ(Gate a[role = 'in'], NOT Gate[role = 'out'], Horn h)
  PARTITION BY car;
