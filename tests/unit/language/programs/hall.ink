EVENT hall(person) AS
  PATTERN SEQ NEXT(At a[room='a'], At h+ CHECK (hallway(h.room)), At c)
  HAVING c.room='c' PARTITION BY person PER END;
