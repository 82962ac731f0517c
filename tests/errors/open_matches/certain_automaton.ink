STREAM Door(who STRING, room STRING, t BIGINT) KEY who TIME t ORDER BY t;
EVENT e(who) AS PATTERN SEQ NEXT(Door a[room = 'hall'], Door b[room = 'lab']) PARTITION BY who PER END;
