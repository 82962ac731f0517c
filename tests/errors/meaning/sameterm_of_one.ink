STREAM triple(s TERM, p TERM, o TERM) TIME t;
EVENT one AS PATTERN triple a[sameterm(p) AND sameterm(s, term(o, s))];
