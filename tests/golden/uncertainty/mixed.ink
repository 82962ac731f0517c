-- A certain event beside a query and an event that needs worlds: each has its own evaluator.
STREAM Door(id STRING, who STRING, t BIGINT) ID id KEY who TIME t;
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;

EVENT entered(who) AS PATTERN SEQ(Door a, Door b) WITHIN 5 TICKS PARTITION BY who;
EVENT coffee(who) AS PATTERN Seen a[room = 'kitchen'] PARTITION BY who PER END;
EVENT alone(who) AS
  PATTERN SEQ(Door a, NOT Seen[room = 'lab'], Seen b[room = 'kitchen'])
  WITHIN 9 TICKS
  PARTITION BY who;
