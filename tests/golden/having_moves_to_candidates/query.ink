STREAM V(id BIGINT, k STRING, s STRING, speed DOUBLE, t BIGINT, seq BIGINT) ID id KEY k TIME t ORDER BY seq;

-- What HAVING asks of one event becomes a test of that event, so an automaton can do the work.
EVENT fast(k) AS
  PATTERN SEQ STRICT(V a[s = 'A'], V b[s = 'B'])
  HAVING b.speed > 10
  PARTITION BY k
  PER END;
