-- An automaton per world; parts are the stretches of each person.
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t ORDER BY id PROBABILITY p;

EVENT coffee(who) AS
  PATTERN SEQ STRICT(Seen[room = 'hall'], Seen[room = 'kitchen'])
  PARTITION BY who
  PER END
  CONFIDENCE >= 0.5;
