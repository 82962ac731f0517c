-- The events of `motorway.ink` where messages are taken for complete: all of them, or those that came.
-- Data: inkling generate motorway; the folder `true` holds all messages, `naive` those that came.

STREAM Congestion(id STRING, day STRING, sector STRING, role STRING, t TIMESTAMP)
  ID id KEY day, sector TIME t SEGMENTS ROLE role;

-- How many times was the one congested while the other was?
EVENT shared(day, x.sector AS one, y.sector AS other, k AS k) AS
  PATTERN AT LEAST k FROM 1 TO 6 Congestion x INTERSECTS SOME Congestion y
  HAVING x.sector < y.sector
  PARTITION BY day;

-- The one was congested while the other had been before and still was afterwards.
EVENT inside(day, x.sector AS inner, y.sector AS outer) AS
  PATTERN SOME Congestion x DURING SOME Congestion y
  PARTITION BY day;
