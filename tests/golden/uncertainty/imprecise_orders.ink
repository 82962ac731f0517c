-- Orders, alternatives and limits on the time between events: sums over the ticks of the events themselves.
STREAM Pump(id STRING, site STRING, lo BIGINT, hi BIGINT) ID id KEY site TIME BETWEEN lo AND hi;
STREAM Valve(id STRING, site STRING, lo BIGINT, hi BIGINT) ID id KEY site TIME BETWEEN lo AND hi;
STREAM Alarm(id STRING, site STRING, t BIGINT) ID id KEY site TIME t;

EVENT ready(site) AS
  PATTERN SEQ((Pump a AND Valve b WITHIN 3 POINTS), Alarm c)
  WITHIN 10 POINTS
  PARTITION BY site;

EVENT soon(site) AS
  PATTERN SEQ(Pump a, Valve b) WHERE b.lo - a.lo <= 2
  WITHIN 10 POINTS
  PARTITION BY site;

EVENT either(site) AS
  PATTERN (SEQ(Pump a, Valve b) OR SEQ(Alarm c, Pump d))
  WITHIN 4 POINTS
  PARTITION BY site;
