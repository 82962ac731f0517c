STREAM V(id BIGINT, k STRING, s STRING, speed DOUBLE, t BIGINT, seq BIGINT) ID id KEY k TIME t ORDER BY seq;

EVENT stretch(k) AS
  PATTERN SEQ STRICT(V[s = 'A'], V[s = 'B']*, V[s = 'C'])
  PARTITION BY k
  PER END;
