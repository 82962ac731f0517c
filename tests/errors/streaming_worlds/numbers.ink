STREAM Bell(id STRING, person STRING, n INT, t TIMESTAMP) ID id KEY person TIME t NUMBERED BY n;
STREAM Seen(id STRING, person STRING, t TIMESTAMP) ID id KEY person TIME t;

EVENT answered(person) AS PATTERN SEQ(Bell b, Seen s) WITHIN 1 MINUTES PARTITION BY person;
