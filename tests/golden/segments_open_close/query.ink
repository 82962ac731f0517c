STREAM Door(id STRING, room STRING, role STRING, t BIGINT) ID id KEY room TIME t SEGMENTS ROLE role;

-- d7 opens what nothing closes; d8 closes what nothing opened. Only rooms in alphabetical order are told.
EVENT never_together(x.room, y.room) AS
  PATTERN ALL Door x {PRECEDES, PRECEDED_BY} ALL Door y
  WHERE x.t < 100 HAVING x.room < y.room;
