STREAM triple(s TERM, p TERM, o TERM) TIME t;
EVENT known AS PATTERN triple a[p = iri('knows')];
