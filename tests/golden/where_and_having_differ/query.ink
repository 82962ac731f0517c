STREAM At(id BIGINT, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;

-- The condition chooses the next event.
EVENT pre(person) AS
  PATTERN SEQ NEXT(At a[room = 'a'], At c[room = 'c'])
  PARTITION BY person
  PER END;

-- The next event is chosen first, then judged.
EVENT post(person) AS
  PATTERN SEQ NEXT(At a[room = 'a'], At c)
  HAVING c.room = 'c'
  PARTITION BY person
  PER END;
