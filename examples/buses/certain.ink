-- The events of `buses.ink` with certain times of doors: true times, or times spread evenly between marks.
-- Data: inkling generate buses; the folder `true` holds true door events, `naive` evenly spread ones.

STREAM Doors(id STRING, day STRING, journey STRING, stop STRING, role STRING, t TIMESTAMP)
  ID id KEY day, journey TIME t SEGMENTS ROLE role;

EVENT stand_together(day, x.journey AS one, y.journey AS other) AS
  PATTERN SOME Doors x INTERSECTS SOME Doors y ON SAME stop
  HAVING x.journey < y.journey
  PARTITION BY day;

-- How many times?
EVENT bunched(day, x.journey AS one, y.journey AS other, k AS k) AS
  PATTERN AT LEAST k FROM 2 TO 12 Doors x INTERSECTS SOME Doors y ON SAME stop
  HAVING x.journey < y.journey
  PARTITION BY day;
