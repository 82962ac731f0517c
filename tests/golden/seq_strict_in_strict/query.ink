STREAM V(id BIGINT, k STRING, s STRING, speed DOUBLE, t BIGINT, seq BIGINT) ID id KEY k TIME t ORDER BY seq;

EVENT run(k) AS
  PATTERN SEQ STRICT(V[s = 'A'], SEQ STRICT(V[s = 'B']+, V[s = 'C']?), V[s = 'D'])
  PARTITION BY k
  PER END;
