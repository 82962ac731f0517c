STREAM V(id BIGINT, k STRING, s STRING, speed DOUBLE, t BIGINT, seq BIGINT) ID id KEY k TIME t ORDER BY seq;

-- The X between the two Bs stands in nobody's way: only a whole B C would.
EVENT mixed(k) AS
  PATTERN SEQ NEXT(V[s = 'A'], SEQ STRICT(V[s = 'B'], V[s = 'C']), V[s = 'D'])
  PARTITION BY k
  PER END;
