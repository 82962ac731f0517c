STREAM Seen(who STRING, room STRING, t BIGINT) KEY who TIME t PROBABILITY p;
EVENT e(who) AS PATTERN SEQ NEXT(Seen a[room = 'hall'], Seen b[room = 'lab']?, Seen c[room = 'office'])
  WITHIN 400 EVENTS PARTITION BY who PER END;
