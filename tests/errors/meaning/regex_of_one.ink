STREAM triple(s TERM, p TERM, o TERM) TIME t;
EVENT one AS PATTERN triple a[regex(str(o))];
