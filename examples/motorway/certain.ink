-- The events of `motorway.ink` where messages are assumed to be complete: all of them, or the recorded ones.
-- Data: inkling generate motorway; the folder `true` holds all messages, `naive` the recorded ones.

STREAM Congestion(id STRING, day STRING, sector STRING, role STRING, t TIMESTAMP)
  ID id KEY day, sector TIME t SEGMENTS ROLE role;

-- How many times was one sector congested while the other was?
EVENT shared(day, x.sector AS one, y.sector AS other, k AS k) AS
  PATTERN AT LEAST k FROM 1 TO 6 Congestion x INTERSECTS SOME Congestion y
  HAVING x.sector < y.sector
  PARTITION BY day;

-- One sector was congested during a longer congestion of the other.
EVENT inside(day, x.sector AS inner, y.sector AS outer) AS
  PATTERN SOME Congestion x DURING SOME Congestion y
  PARTITION BY day;
