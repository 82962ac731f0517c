STREAM A(id STRING, k STRING, x BIGINT, y DOUBLE, f BOOLEAN, t BIGINT) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, x BIGINT, y DOUBLE, f BOOLEAN, t BIGINT) ID id KEY k TIME t;

-- Values of any type where B may be missing.
EVENT filled(coalesce(b.k, 'none') AS k, coalesce(b.x, a.x, 0) AS x, coalesce(b.y, a.x) AS y,
    coalesce(b.f, a.f, FALSE) AS f, coalesce(START(b), START(a)) AS since, if(b.x > a.x, ID(b), NULL) AS larger) AS
  PATTERN A a OPTIONAL B b[coalesce(y, x) > coalesce(a.y, -1)]
  WITHIN 4 TICKS;

-- A condition that is chosen, and one on a column that is filled first.
EVENT chosen(a.x AS x) AS
  PATTERN A a
  WHERE if(a.x > 2, a.f, coalesce(a.y, 9) > 8)
  PARTITION BY k;
