STREAM triple(id STRING, s TERM, p TERM, o TERM, begins BIGINT, ends BIGINT)
  ID id
  TIME FROM begins TO ends;

TABLE background(s TERM, p TERM, o TERM) FROM 'background.csv';

RULE background_entailed(x, p, y) IF background(x, p, y);

-- rdfs5: a property is below what the properties above it are below
RULE background_entailed(x, iri('http://www.w3.org/2000/01/rdf-schema#subPropertyOf'), z)
  IF background_entailed(x, iri('http://www.w3.org/2000/01/rdf-schema#subPropertyOf'), y)
    AND background_entailed(y, iri('http://www.w3.org/2000/01/rdf-schema#subPropertyOf'), z);

-- rdfs11: a class is below what the classes above it are below
RULE background_entailed(x, iri('http://www.w3.org/2000/01/rdf-schema#subClassOf'), z)
  IF background_entailed(x, iri('http://www.w3.org/2000/01/rdf-schema#subClassOf'), y)
    AND background_entailed(y, iri('http://www.w3.org/2000/01/rdf-schema#subClassOf'), z);

-- rdfs7: what has a property has the properties above it
RULE background_entailed(x, q, y)
  IF background_entailed(x, p, y)
    AND background_entailed(p, iri('http://www.w3.org/2000/01/rdf-schema#subPropertyOf'), q);

-- rdfs2: what has a property is an instance of its domain
RULE background_entailed(x, iri('http://www.w3.org/1999/02/22-rdf-syntax-ns#type'), z)
  IF background_entailed(x, p, y)
    AND background_entailed(p, iri('http://www.w3.org/2000/01/rdf-schema#domain'), z);

-- rdfs3: a value of a property is an instance of its range
RULE background_entailed(y, iri('http://www.w3.org/1999/02/22-rdf-syntax-ns#type'), z)
  IF background_entailed(x, p, y)
    AND background_entailed(p, iri('http://www.w3.org/2000/01/rdf-schema#range'), z)
    AND NOT isliteral(y);

-- rdfs9: an instance of a class is an instance of the classes above it
RULE background_entailed(x, iri('http://www.w3.org/1999/02/22-rdf-syntax-ns#type'), z)
  IF background_entailed(x, iri('http://www.w3.org/1999/02/22-rdf-syntax-ns#type'), y)
    AND background_entailed(y, iri('http://www.w3.org/2000/01/rdf-schema#subClassOf'), z);

-- rdfs7: what has a property has the properties above it
RULE background_property(p, q)
  IF background_entailed(p, iri('http://www.w3.org/2000/01/rdf-schema#subPropertyOf'), q);

EVENT triple_closure(t.s AS s, t.p AS p, t.o AS o) AS
  PATTERN triple t[sameterm(p, iri('http://example.org/level'))]
  PER INTERVAL
  HIDDEN;

EVENT triple_closure(t.s AS s, t.p AS p, t.o AS o) AS
  PATTERN query1 t
  PER INTERVAL
  HIDDEN;

EVENT query1_part1(
  t1.s AS x,
  term_plus(t1.o, typed('1', 'http://www.w3.org/2001/XMLSchema#integer')) AS next
) AS
  PATTERN triple_closure t1[sameterm(p, iri('http://example.org/level'))]
  WHERE t1.o < 3
  PER INTERVAL
  HIDDEN;

EVENT query1(t2.x AS s, iri('http://example.org/level') AS p, t2.next AS o) AS
  PATTERN query1_part1 t2
  WHERE t2.next IS NOT NULL AND NOT isliteral(t2.x)
  PER INTERVAL;

EVENT raised(t1.s AS x, t1.o AS low, t2.o AS high) AS
  PATTERN SEQ(
    triple | query1 t1[sameterm(p, iri('http://example.org/level'))],
    triple | query1 t2[sameterm(p, iri('http://example.org/level'))]
  )
  WHERE sameterm(t1.s, t2.s) AND t1.o < t2.o
  PER INTERVAL;

EVENT rated_part1(t2.s AS x, t2.o AS before, t3.o AS after) AS
  PATTERN SEQ(
    triple t2[sameterm(p, iri('http://example.org/price'))],
    triple t3[sameterm(p, iri('http://example.org/price'))]
  )
  WHERE (t3.o < 50 OR isnan(t3.o) AND isnumeric(t3.o)) AND sameterm(t2.s, t3.s)
  PER INTERVAL
  HIDDEN;

EVENT rated(t4.x AS x, t1.o AS agency, t4.after AS after) AS
  PATTERN rated_part1 t4
  OPTIONAL PRECEDED_BY triple t1[sameterm(p, iri('http://example.org/rated'))]
  WHERE sameterm(t4.x, t1.s) AND t1.o <> iri('http://example.org/none')
  PER INTERVAL;

EVENT either_part1(t1.s AS x, t1.o AS y, iri(NULL) AS z) AS
  PATTERN triple t1[sameterm(p, iri('http://example.org/price'))]
  PER INTERVAL
  HIDDEN;

EVENT either_part1(t2.s AS x, iri(NULL) AS y, t2.o AS z) AS
  PATTERN triple t2[sameterm(p, iri('http://example.org/near'))]
  PER INTERVAL
  HIDDEN;

EVENT either(t3.x AS x, t3.y AS y, coalesce(t3.z, t4.o) AS z) AS
  PATTERN either_part1 t3 OPTIONAL EQUALS triple t4[sameterm(p, iri('http://example.org/near'))]
  WHERE sameterm(t3.x, t4.s) AND (t3.z IS NULL OR sameterm(t3.z, t4.o))
  HAVING t3.y IS NULL OR isliteral(t3.y)
  PER INTERVAL;

EVENT listed(t1.s AS x, kind AS kind) AS
  PATTERN triple | query1 t1[sameterm(p, iri('http://example.org/near'))
    OR background_property(p, iri('http://example.org/near'))]
  WHERE background_entailed(t1.o, iri('http://www.w3.org/1999/02/22-rdf-syntax-ns#type'), kind)
  PER INTERVAL;
