-- RDF terms: identity joins and looks tables up, comparisons are by value, and errors are false.
STREAM triple(id BIGINT, s TERM, p TERM, o TERM, t BIGINT) ID id TIME t;
TABLE background(s TERM, p TERM, o TERM) FROM 'background.csv';

EVENT rise(a.s AS stock, number(a.o) AS before, b.o AS after, term_minus(b.o, a.o) AS gain) AS
  PATTERN SEQ(triple a[sameterm(p, iri('http://ex.org/price'))], triple b[p = iri('http://ex.org/price')])
  WHERE sameterm(a.s, b.s) AND a.o < b.o AND a.o >= 10
  WITHIN 10 TICKS;

EVENT named(a.s AS stock, str(name) AS name) AS
  PATTERN triple a
  WHERE background(a.s, iri('http://ex.org/name'), name) AND lang(name) IN ('en', '') AND regex(str(name), '^a', 'i');

EVENT other(a.o AS value) AS
  PATTERN triple a[o <> 12 AND NOT isiri(o) AND (ebv(o) OR o = 'two words')];
