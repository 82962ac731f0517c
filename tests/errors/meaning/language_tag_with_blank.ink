STREAM triple(s TERM, p TERM, o TERM) TIME t;
EVENT greeting AS PATTERN triple a[o = literal('hello', 'en gb')];
