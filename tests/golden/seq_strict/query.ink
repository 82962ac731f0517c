STREAM V(id BIGINT, k STRING, s STRING, speed DOUBLE, t BIGINT, seq BIGINT) ID id KEY k TIME t ORDER BY seq;

EVENT direct(k) AS
  PATTERN SEQ STRICT(V a[s = 'A'], V b[s = 'B'], V c[s = 'C'])
  PARTITION BY k;
