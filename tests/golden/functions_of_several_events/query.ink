-- Functions of columns of several events, which no kernel computes: shapes and texts.
STREAM Zone(id BIGINT, name STRING, shape STRING, t BIGINT) ID id TIME t;
STREAM Fix(id BIGINT, name STRING, x DOUBLE, y DOUBLE, t BIGINT) ID id TIME t;

-- Positions inside a zone that was declared before.
EVENT inside(z.name AS zone, f.name AS who) AS
  PATTERN SEQ(Zone z, Fix f[contains(z.shape, x, y)]);

-- The next position within 2 of the zone.
EVENT close AS
  PATTERN SEQ NEXT(Zone z, Fix f[distance_to(z.shape, x, y) <= 2 AND z.t < f.t - 1]);

-- No position inside the zone between the two.
EVENT untouched AS
  PATTERN SEQ(Zone z, NOT Fix[contains(z.shape, x, y)], Fix f);

-- A name made of two others, in any case.
EVENT joined AS
  PATTERN SEQ(Fix a, Fix b, Zone z[lower(name) = lower(concat(a.name, b.name))]);

-- Each zone is used up by the first position inside it.
EVENT entered AS
  PATTERN SEQ(Zone z, Fix f[contains(z.shape, x, y)])
  CONSUME CHRONOLOGICAL KEEPING;
