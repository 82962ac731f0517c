TABLE rooms(name STRING, floor BIGINT) FROM 'rooms.csv';
RULE above(r, v) IF rooms(r, f) AND f > v;
STREAM Seen(id STRING, room STRING) ID id TIME t DERIVE a = rooms(room, floor), b = above(room, _), c = rooms(room);
