STREAM V(id STRING, s STRING, t BIGINT, n BIGINT) ID id TIME t ORDER BY n;

-- Simultaneous, but in the order of n.
EVENT pair AS
  PATTERN SEQ STRICT(V a[s = 'A'], V b[s = 'B']);
