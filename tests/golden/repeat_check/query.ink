STREAM At(id STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t ORDER BY id;
TABLE hallway(room STRING) FROM 'hallway.csv';

EVENT walks(person, COUNT(h) AS rooms) AS
  PATTERN SEQ NEXT(At a[room = 'a'], At h+ CHECK (hallway(h.room) AND h.room <> LAST(h).room), At c[room = 'c'])
  PARTITION BY person;

EVENT arrives(person) AS
  PATTERN SEQ NEXT(At a[room = 'a'], At h+ CHECK (hallway(h.room)), At c[room = 'c'])
  PARTITION BY person
  PER END;
