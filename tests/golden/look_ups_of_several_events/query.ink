-- Look-ups that read several events, under NOT and OR: of three columns, and of a rule that compares.
STREAM Trip(id BIGINT, site STRING, kg INT, t BIGINT) ID id TIME t;
TABLE allowed(one STRING, other STRING, kg INT) FROM 'allowed.csv';
RULE may(one, other, kg) IF allowed(one, other, most) AND kg <= most;

-- From one site to another with a load that is not listed.
EVENT unlisted AS
  PATTERN SEQ NEXT(Trip a, Trip b) WHERE NOT allowed(a.site, b.site, a.kg);

-- Too heavy for the way, unless it stays where it is.
EVENT heavy(a.site AS one, b.site AS other) AS
  PATTERN SEQ NEXT(Trip a, Trip b) WHERE NOT (a.site = b.site OR may(a.site, b.site, a.kg + b.kg));

-- The first trip that may follow uses up the one before.
EVENT follows AS
  PATTERN SEQ(Trip a, Trip b) WHERE may(a.site, b.site, b.kg) OR b.kg = 0
  CONSUME CHRONOLOGICAL;
