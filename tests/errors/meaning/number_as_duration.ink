STREAM Step(id STRING, t INT) ID id TIME t;
STREAM Stamp(id STRING, at TIMESTAMP) ID id TIME at;
EVENT pair AS PATTERN SEQ(Stamp a, Stamp b) WHERE b.at - a.at > 30;
