-- A regular query per person: an automaton over the readings of each.
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;

EVENT coffee(who) AS
  PATTERN SEQ(Seen a[room = 'hall'], Seen b[room = 'kitchen'])
  PARTITION BY who
  PER END;
