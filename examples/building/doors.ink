-- People on a corridor; `Door` holds every place a person enters; a tick is a second.
-- Data: inkling generate building

STREAM Door(id STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t TICK 1 SECONDS;

TABLE rooms(room STRING, kind STRING) FROM 'rooms.csv';
TABLE offices(person STRING, room STRING) FROM 'offices.csv';

EVENT coffee_visit(d.person AS person) AS
  PATTERN Door d[rooms(room, 'coffee')];

-- From a person's own office straight to the coffee room.
EVENT coffee_break(person) AS
  PATTERN SEQ STRICT(Door a[offices(person, room)], Door h[rooms(room, 'hallway')]+, Door c[rooms(room, 'coffee')])
  PARTITION BY person
  PER END;

EVENT coffee_together(x.person AS first, y.person AS second) AS
  PATTERN SEQ(coffee_visit x, coffee_visit y)
  WHERE x.person <> y.person
  WITHIN 3 SECONDS;

-- Out for coffee and not back at the desk within five minutes.
EVENT lost_for_long(c.person AS person) AS
  PATTERN SEQ(coffee_break c, NOT Door d[person = c.person AND offices(person, room)], AFTER 5 MINUTES);

-- A visit to somebody else's office that lasts at least half a minute.
EVENT visit(d.person AS person, d.room AS room) AS
  PATTERN SEQ(Door d[rooms(room, 'office') AND NOT offices(person, room)],
              NOT Door e[person = d.person], AFTER 30 SECONDS);
