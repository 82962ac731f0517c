STREAM V(id STRING, s DOUBLE, n STRING) KEY id TIME t;
EVENT e AS PATTERN every a=V -> b=V(id = a.id);
