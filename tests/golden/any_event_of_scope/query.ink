STREAM V(id BIGINT, k STRING, s STRING, speed DOUBLE, t BIGINT, seq BIGINT) ID id KEY k TIME t ORDER BY seq;

-- A later event that is faster, at most four events on.
EVENT faster(k, y.speed - x.speed AS gain) AS
  PATTERN SEQ STRICT(V x[s = 'A'], _*, V y[speed > x.speed])
  WITHIN 4 EVENTS
  PARTITION BY k;
