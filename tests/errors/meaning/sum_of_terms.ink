STREAM triple(s TERM, p TERM, o TERM) TIME t;
EVENT rise(b.o - a.o AS gain) AS PATTERN SEQ(triple a, triple b) WITHIN 5 MINUTES;
