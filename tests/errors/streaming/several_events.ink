STREAM Tick(id STRING, n INT) ID id TIME n;
EVENT one AS PATTERN SEQ(Tick a, Tick b);
EVENT fine AS PATTERN SEQ(Tick a, Tick b) WITHIN 5 TICKS;
EVENT two AS PATTERN SEQ(one a, Tick b);
