-- A sequence of single events whose times are intervals: a chain, summed over ticks.
STREAM Login(id STRING, who STRING, t BIGINT) ID id KEY who TIME t ± 1 TICKS;
STREAM Alarm(id STRING, who STRING, lo BIGINT, hi BIGINT) ID id KEY who TIME BETWEEN lo AND hi;

EVENT suspicious(who) AS
  PATTERN SEQ NEXT(Login l, Alarm a)
  WITHIN 10 TICKS
  PARTITION BY who;
