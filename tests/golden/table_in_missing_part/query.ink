-- What a table supplies for a part that may be missing: null without the part.
STREAM Meter(id BIGINT, kind STRING, x INT, t BIGINT) ID id TIME t;
TABLE limits(kind STRING, top INT) FROM 'limits.csv';

EVENT checked(top) AS
  PATTERN SEQ NEXT(Meter a[kind = 'start'], Meter b[limits(kind, top)]?, Meter c[kind = 'end']);

EVENT above(top) AS
  PATTERN SEQ NEXT(Meter a[kind = 'start'], Meter b[limits(kind, top)]?, Meter c[kind = 'end'])
  HAVING top IS NULL OR c.x > top;
