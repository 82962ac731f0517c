STREAM Door(room STRING, t BIGINT) TIME t;
EVENT moved(d.room AS room) AS PATTERN Door d[room = 'lab'] HIDDEN;
EVENT moved(d.room AS room) AS PATTERN Door d[room = 'hall'];
