-- A relation between segments of two keys, one of whose ends was lost: a pass over the order of all ends.
STREAM Gate(car STRING, n BIGINT, t BIGINT) KEY car TIME t NUMBERED BY n SEGMENTS;

EVENT beside(a.car AS one, b.car AS other) AS
  PATTERN SOME Gate a OVERLAPS SOME Gate b;
