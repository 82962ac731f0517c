STREAM triple(s TERM, p TERM, o TERM) TIME t;
EVENT set AS PATTERN triple a[o];
