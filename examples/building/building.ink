-- People on a corridor with antennas that miss many tags; a tick is a second.
-- `At` has the distribution of each second given earlier readings (inkling infer filter), `Was` given all readings
-- (inkling infer smooth).
-- Data: inkling demo building

STREAM At(person STRING, room STRING, t BIGINT) KEY person TIME t TICK 1 SECONDS PROBABILITY p;
STREAM Was(person STRING, room STRING, t BIGINT, previous STRING) KEY person TIME t TICK 1 SECONDS
  PROBABILITY p GIVEN previous;

TABLE rooms(room STRING, kind STRING) FROM 'rooms.csv';

-- Two seconds elsewhere, then the coffee room: a live alert, and the same given all readings.
EVENT coffee_now(person) AS
  PATTERN SEQ NEXT(At a, At b, At c)
  HAVING NOT rooms(a.room, 'coffee') AND NOT rooms(b.room, 'coffee') AND rooms(c.room, 'coffee')
  PARTITION BY person
  PER END;

EVENT coffee(person) AS
  PATTERN SEQ NEXT(Was a, Was b, Was c)
  HAVING NOT rooms(a.room, 'coffee') AND NOT rooms(b.room, 'coffee') AND rooms(c.room, 'coffee')
  PARTITION BY person
  PER END;

-- For each second: does anybody come in?
EVENT anyone() AS
  PATTERN SEQ NEXT(Was a, Was b[person = a.person], Was c[person = a.person])
  HAVING NOT rooms(a.room, 'coffee') AND NOT rooms(b.room, 'coffee') AND rooms(c.room, 'coffee')
  PER END;

-- For each person: at any time?
EVENT ever(person) AS
  PATTERN SEQ NEXT(Was a, Was b, Was c)
  HAVING NOT rooms(a.room, 'coffee') AND NOT rooms(b.room, 'coffee') AND rooms(c.room, 'coffee')
  PARTITION BY person
  PER VALUES;

-- Three seconds in the coffee room.
EVENT stays_now(person) AS
  PATTERN SEQ NEXT(At a, At b, At c)
  HAVING rooms(a.room, 'coffee') AND rooms(b.room, 'coffee') AND rooms(c.room, 'coffee')
  PARTITION BY person
  PER END;

EVENT stays(person) AS
  PATTERN SEQ NEXT(Was a, Was b, Was c)
  HAVING rooms(a.room, 'coffee') AND rooms(b.room, 'coffee') AND rooms(c.room, 'coffee')
  PARTITION BY person
  PER END;
