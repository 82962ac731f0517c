-- a lesson and a break that overlap, and a break that lies inside a shift: three keys at once, and then an alarm
STREAM Use(id STRING, who STRING, kind STRING, began BIGINT, ended BIGINT) ID id KEY who TIME FROM began TO ended;
STREAM Alarm(id STRING, who STRING, t BIGINT) ID id TIME t;

EVENT e(x.who AS x, y.who, z.who AS z) AS
  PATTERN SEQ(
    (SOME Use x INTERSECTS SOME Use y WHERE x.kind = 'lesson') AND (ALL Use y DURING SOME Use z WITHIN 20 TICKS),
    Alarm a
  )
  WHERE a.who = z.who;
