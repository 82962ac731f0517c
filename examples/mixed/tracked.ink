-- A forklift is tracked from reading to reading: its next zone depends on the previous one. A tick is a second.
-- Data: inkling generate mixed

STREAM Forklift(id STRING, shift STRING, zone STRING, previous_zone STRING, t BIGINT, p DOUBLE)
  ID id KEY shift TIME t TICK 1 SECONDS PROBABILITY p GIVEN previous_zone;

STREAM Pickup(id STRING, shift STRING, lo BIGINT, hi BIGINT)
  ID id KEY shift TIME BETWEEN lo AND hi TICK 1 SECONDS;

-- The forklift was at the dock, picked something up, and went to the truck.
EVENT delivered(shift) AS
  PATTERN SEQ(Forklift a[zone = 'dock'], Pickup f, Forklift b[zone = 'truck'])
  PARTITION BY shift
  PER VALUES;

-- In the aisle at one reading and still there at the next.
EVENT waited(shift) AS
  PATTERN SEQ STRICT(Forklift a[zone = 'aisle'], Forklift b[zone = 'aisle'])
  PARTITION BY shift
  PER VALUES;
