// a comment
STREAM V(id STRING, s DOUBLE, n STRING) KEY id TIME t;
EVENT e AS PATTERN V v WHERE v.s > 3;
