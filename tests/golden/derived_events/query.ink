STREAM Motion(id BIGINT, room STRING, t BIGINT) ID id KEY room TIME t;

EVENT busy(x.room AS room) AS
  PATTERN SEQ(Motion x, Motion y)
  WHERE y.room = x.room
  WITHIN 2 TICKS;

-- Built on the event above: intervals that follow each other.
EVENT busy_twice(x.room AS room) AS
  PATTERN SEQ(busy x, busy y)
  WHERE y.room = x.room
  WITHIN 8 TICKS;

-- Built on a derived event and on the stream it came from.
EVENT calm_after(b.room AS room) AS
  PATTERN SEQ(busy_twice b, NOT Motion[room = b.room], AFTER 5 TICKS);
