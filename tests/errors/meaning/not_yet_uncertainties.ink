STREAM At(person STRING) TIME BETWEEN lo AND hi PROBABILITY p;
TABLE rooms(name STRING) FROM 'rooms.csv';
STREAM Seen(room STRING) TIME t DERIVE known = rooms(room);
