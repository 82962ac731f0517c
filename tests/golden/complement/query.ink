STREAM V(id BIGINT, k STRING, s STRING, speed DOUBLE, t BIGINT, seq BIGINT) ID id KEY k TIME t ORDER BY seq;

-- From an A to a C without a B on the way.
EVENT gapless(k) AS
  PATTERN SEQ STRICT(V[s = 'A'], COMPLEMENT(SEQ STRICT(_*, V[s = 'B'], _*)), V[s = 'C'])
  PARTITION BY k
  PER END;
