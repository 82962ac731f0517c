STREAM Step(id STRING, t INT) ID id TIME t;
EVENT pair(minutes(END(b) - START(a)) AS took) AS PATTERN SEQ(Step a, Step b) WHERE hours(START(b) - END(a)) < 2;
