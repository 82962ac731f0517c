STREAM V(id STRING, s DOUBLE, n STRING, d TERM) KEY id TIME t;
EVENT a1 AS PATTERN V a WHERE coalesce() > 3;
EVENT a2 AS PATTERN V a WHERE coalesce(a.n, 1) = '3';
EVENT a3(if(a.s > 0, a.s) AS x) AS PATTERN V a;
EVENT a4(if(a.s, a.s, 1) AS x) AS PATTERN V a;
EVENT a5(if(a.s > 1, a.s, a.n) AS x) AS PATTERN V a;
EVENT a6(coalesce(a.d, 'none') AS x) AS PATTERN V a;
EVENT a7(coalesce(a.s, NULL, 1) AS x) AS PATTERN V a WHERE if(a.s > 1, a.n = 'x', FALSE);
