-- Sectors of a motorway that were congested at the same time, though messages of their controllers got lost.
-- Data: inkling generate motorway

-- A controller numbers its messages, so it shows how many were lost and what they said, though not when. A mark is no
-- message: every twenty minutes it says how many there were so far.
STREAM Congestion(id STRING, day STRING, sector STRING, role STRING, n BIGINT, t TIMESTAMP)
  ID id KEY day, sector TIME t NUMBERED BY n SEGMENTS ROLE role;

-- How many times was the one congested while the other was?
EVENT shared(day, x.sector AS one, y.sector AS other, k AS k) AS
  PATTERN AT LEAST k FROM 1 TO 6 Congestion x INTERSECTS SOME Congestion y
  HAVING x.sector < y.sector
  PARTITION BY day;

-- The one was congested while the other had been before and still was afterwards.
EVENT inside(day, x.sector AS inner, y.sector AS outer) AS
  PATTERN SOME Congestion x DURING SOME Congestion y
  PARTITION BY day;
