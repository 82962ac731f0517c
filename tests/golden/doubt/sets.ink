-- The room is a value in doubt that two people share: sets of partial matches.
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;

EVENT followed(b.room AS room) AS
  PATTERN SEQ(Seen a[who = 'ada'], Seen b[who = 'bob' AND room = a.room])
  PER VALUES;
