STREAM "order"(id INT, key STRING, time TIMESTAMP, start INT, "end" INT, count INT, `select` BOOLEAN)
  ID id KEY key, start TIME FROM start TO end ORDER BY order TICK 0.5 SECONDS
  SEGMENTS ROLE role COUNT count BOUNDS lo TO hi
  DERIVE gap = start - PREV(end), still = SINCE_CHANGE(key) > 5 AND NOT key IS NULL
  RESET WHEN key = 'new' OR start IS NOT NULL LATENESS 1.25 hours SPECULATIVE OP op
  FOR 2 DAYS;
EVENT everything(a.x AS first_x, y) AS
  PATTERN SEQ(AT START, A | B a[x IN (1, 2) AND y NOT IN ('it''s')], OPTIONAL C c, (D d WHERE d.x = a.x WITHIN 1 DAY) e,
    F f{2,4} MAXIMAL CHECK (SUM(f.v) > 10), AFTER 2 WEEKS)
    PAR (E EXCEPT F) OR AT '2024-05-01 10:00:00' MEETS G AND (WINDOW H h[v > 0] LAST 10 MINUTES SINCE a)
  RETURN COUNT(f) AS n, LAST(f).v - FIRST(f).v, END(a) - START(c), ID(a), -(a.x + 1) * 2 % 3
  HAVING COUNT(f) > 2 AND (a.x > 1 OR NOT b = TRUE)
  PER MATCH WITHIN 100 EVENTS WHERE v = a.x + 1e3 PARTITION BY key, site OVER (A, B)
  CONSUME CHRONOLOGICAL KEEPING PREFER a.weight * 2 TOP 5 KEEP FOR 3 DAYS ON TIMEOUT unfinished ON RETRACT undone SAMPLED;
FORECAST everything AROUND 5 EVENTS MODEL best REMAINING 0.1 TO 0.5 INCLUDING FINAL;
FORECAST everything POINT;
FORECAST everything INTERVAL FIXED 7;
