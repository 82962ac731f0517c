STREAM V(id STRING, s DOUBLE, n STRING) KEY id TIME t;
EVENT e AS PATTERN V a WHERE nvl(a.s, 0) > 3;
EVENT f(iff(a.s > 0, a.n, 'none') AS n) AS PATTERN V a;
