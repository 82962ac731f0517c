STREAM V(id STRING, s DOUBLE, n STRING) KEY id TIME t;
EVENT a(coalesce(v.s, v.n) AS x) AS PATTERN V v;
EVENT b(coalesce() AS x) AS PATTERN V v;
EVENT c(if(v.s > 1, v.s) AS x) AS PATTERN V v;
EVENT d(if(v.s, 1, 2) AS x) AS PATTERN V v;
