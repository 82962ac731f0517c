-- The events of tracked.ink over streams that are assumed to be certain; a tick is a millisecond.
-- Data: inkling generate mixed; the folder `true` holds true events, `naive` the most plausible ones.

STREAM Forklift(id STRING, shift STRING, zone STRING, t BIGINT) ID id KEY shift TIME t TICK 1 MILLISECONDS;

STREAM Pickup(id STRING, shift STRING, t BIGINT) ID id KEY shift TIME t TICK 1 MILLISECONDS;

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
