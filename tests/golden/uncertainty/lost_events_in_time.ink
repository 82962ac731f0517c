-- A window asks how much time lies between lost events, and parts cannot be divided by a key.
STREAM Gate(car STRING, n BIGINT, t BIGINT) KEY car TIME t NUMBERED BY n;
STREAM Horn(id STRING, t BIGINT) ID id TIME t;

EVENT angry AS
  PATTERN SEQ(Gate a, Horn h)
  WITHIN 5 TICKS;

EVENT calm AS
  PATTERN SEQ(Horn g, NOT angry, Horn h)
  WITHIN 60 TICKS;
