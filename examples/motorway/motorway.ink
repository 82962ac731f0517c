-- Sectors of a motorway that were congested at the same time, although messages of their controllers got lost.
-- Data: inkling generate motorway

-- A controller numbers its messages, so gaps show how many were lost and what they said, but not when. A mark is not a
-- message: every twenty minutes it states the number of messages so far.
STREAM Congestion(id STRING, day STRING, sector STRING, role STRING, n BIGINT, t TIMESTAMP)
  ID id KEY day, sector TIME t NUMBERED BY n SEGMENTS ROLE role;

-- How many times was one sector congested while the other was?
EVENT shared(day, x.sector AS one, y.sector AS other, k AS k) AS
  PATTERN AT LEAST k FROM 1 TO 6 Congestion x INTERSECTS SOME Congestion y
  HAVING x.sector < y.sector
  PARTITION BY day;

-- One sector was congested during a longer congestion of the other.
EVENT inside(day, x.sector AS inner, y.sector AS outer) AS
  PATTERN SOME Congestion x DURING SOME Congestion y
  PARTITION BY day;
