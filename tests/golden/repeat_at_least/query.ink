STREAM V(id BIGINT, k STRING, s STRING, speed DOUBLE, t BIGINT, seq BIGINT) ID id KEY k TIME t ORDER BY seq;

EVENT theft(k) AS
  PATTERN SEQ STRICT(V[s = 'parked' AND speed > 30]{3,})
  PARTITION BY k
  PER END;
