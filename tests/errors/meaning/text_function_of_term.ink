STREAM triple(s TERM, p TERM, o TERM) TIME t;
EVENT short AS PATTERN triple a[length(o) < 5 AND isiri('http://ex.org/a')];
