-- Two people share a value that is uncertain: sets of partial matches.
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;

EVENT followed AS
  PATTERN SEQ NEXT(Seen a[who = 'ada'], Seen b[who = 'bob' AND room = a.room])
  PER VALUES;
