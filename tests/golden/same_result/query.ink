-- Results are compared by their identity: as different ones, and as the same one.
STREAM Motion(id BIGINT, room STRING, t BIGINT) ID id KEY room TIME t;

EVENT visit(b.room AS room) AS
  PATTERN SEQ(Motion a, Motion b[room = a.room])
  WITHIN 3 TICKS
  PER INTERVAL;

-- Two visits at a time, in whatever rooms.
EVENT together AS
  PATTERN (visit p AND visit q WITHIN 3 TICKS)
  HAVING ID(p) <> ID(q) AND p.room <= q.room;

-- A visit during which no other one began and ended.
EVENT alone(p.room AS room) AS
  PATTERN SEQ(Motion m, NOT visit v, Motion n) EQUALS visit p
  HAVING m.room = p.room AND n.room = p.room;

-- Either a motion or a visit, and the same one again.
EVENT itself AS
  PATTERN (Motion | visit p) AND (visit | Motion q)
  HAVING ID(p) = ID(q);
