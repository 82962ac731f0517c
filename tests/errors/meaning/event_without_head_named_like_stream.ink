STREAM Door(id BIGINT, who STRING, room STRING) ID id KEY who TIME t;

EVENT Door AS PATTERN SEQ(Door[room = 'hall'], Door[room = 'lab']) WITHIN 5 SECONDS PARTITION BY who;
