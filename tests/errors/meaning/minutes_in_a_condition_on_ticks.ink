STREAM Step(id STRING, t INT) ID id TIME t;
EVENT pair AS PATTERN SEQ(Step a, Step b) WHERE b.t - a.t > 5 MINUTES;
