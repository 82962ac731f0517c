-- Buses that are at the same stop at the same time, although few arrivals and departures were recorded.
-- Data: inkling generate buses

-- The stop of the nth door event of a bus: odd numbers open, even numbers close.
TABLE schedule(n BIGINT, stop STRING) FROM 'schedule.csv';

-- Marks come from pings: the number of door events up to this time. Buses do not arrive exactly where another stop
-- becomes the nearest, and do not leave immediately, so gaps follow an Erlang distribution of shape 2.
STREAM Doors(id STRING, day STRING, journey STRING, stop STRING, role STRING, n BIGINT, t TIMESTAMP)
  ID id KEY day, journey TIME t NUMBERED BY n GAPS ERLANG 2 KNOWN FROM schedule SEGMENTS ROLE role;

EVENT stand_together(day, x.journey AS one, y.journey AS other) AS
  PATTERN SOME Doors x INTERSECTS SOME Doors y ON SAME stop
  HAVING x.journey < y.journey
  PARTITION BY day;

-- How many times?
EVENT bunched(day, x.journey AS one, y.journey AS other, k AS k) AS
  PATTERN AT LEAST k FROM 2 TO 12 Doors x INTERSECTS SOME Doors y ON SAME stop
  HAVING x.journey < y.journey
  PARTITION BY day;
