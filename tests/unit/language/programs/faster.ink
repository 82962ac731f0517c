EVENT faster AS PATTERN SEQ STRICT(V x[s='A'], _*, V y[speed > x.speed]) WITHIN 4 EVENTS
  PARTITION BY k PER END;
