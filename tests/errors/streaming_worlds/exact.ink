STREAM At(id STRING, person STRING, room STRING, p DOUBLE, t TIMESTAMP) ID id KEY person TIME t PROBABILITY p;

EVENT met(person) AS PATTERN SEQ(At a[room = 'hall'], At b[room = 'lab']) WITHIN 1 MINUTES PARTITION BY person
    EXACT;
