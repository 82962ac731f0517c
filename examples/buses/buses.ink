-- Buses that stand at one stop at the same time, though hardly anybody saw them arrive or leave.
-- Data: inkling generate buses

-- At which stop the doors of a bus do something for the nth time: opening is odd, closing is even.
TABLE schedule(n BIGINT, stop STRING) FROM 'schedule.csv';

-- Marks come from pings: by this time, doors have opened and closed so many times. Neither do buses arrive right where
-- another stop gets nearer, nor do they stay for no time: gaps are sums of two.
STREAM Doors(id STRING, day STRING, journey STRING, stop STRING, role STRING, n BIGINT, t TIMESTAMP)
  ID id KEY day, journey TIME t NUMBERED BY n GAPS ERLANG 2 KNOWN FROM schedule SEGMENTS ROLE role;

EVENT stand_together(day, x.journey AS one, y.journey AS other) AS
  PATTERN SOME Doors x INTERSECTS SOME Doors y ON SAME stop
  HAVING x.journey < y.journey
  PARTITION BY day;

-- How often?
EVENT bunched(day, x.journey AS one, y.journey AS other, k AS k) AS
  PATTERN AT LEAST k FROM 2 TO 12 Doors x INTERSECTS SOME Doors y ON SAME stop
  HAVING x.journey < y.journey
  PARTITION BY day;
