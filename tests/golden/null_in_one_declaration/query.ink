STREAM A(id STRING, x BIGINT, t BIGINT) ID id TIME t;
STREAM B(id STRING, y DOUBLE, s STRING, t BIGINT) ID id TIME t;

-- A column that is NULL in one declaration has the type of the others.
EVENT seen(NULL AS word, a.x AS number) AS PATTERN A a;
EVENT seen(b.s, NULL) AS PATTERN B b[y < 0];
EVENT seen(NULL, b.y) AS PATTERN B b[y >= 0];

EVENT pair(p.word, q.number) AS
  PATTERN SEQ(seen p[word = 'w'], seen q[number > 1])
  WITHIN 9 TICKS;

-- The same in an event that uses itself.
EVENT up(a.x AS last, NULL AS first) AS PATTERN A a PER INTERVAL;
EVENT up(b.x, z.last) AS PATTERN SEQ(up z[first IS NULL], A b[x > z.last]) PER INTERVAL;
EVENT up(b.x, z.first) AS PATTERN SEQ(up z[first > 0], A b[x > z.last]) PER INTERVAL;
