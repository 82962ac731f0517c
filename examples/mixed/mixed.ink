-- Loading docks of a warehouse with unreliable sensors; a tick is a second.
-- Data: inkling generate mixed

-- Tags are read by antennas that cannot distinguish neighboring zones: one row per zone where the pallet may be.
STREAM Seen(id STRING, shift STRING, pallet STRING, zone STRING, t BIGINT, p DOUBLE)
  ID id KEY shift, pallet TIME t TICK 1 SECONDS PROBABILITY p;

-- Forklifts have imprecise clocks: the pickup happened between `lo` and `hi`.
STREAM Pickup(id STRING, shift STRING, lo BIGINT, hi BIGINT)
  ID id KEY shift TIME BETWEEN lo AND hi TICK 1 SECONDS;

-- Doors number their openings and closings, so gaps show how many messages were lost, but not when.
STREAM Door(id STRING, shift STRING, role STRING, t BIGINT, seq BIGINT, n BIGINT, opens BIGINT, closes BIGINT)
  ID id KEY shift TIME t TICK 1 SECONDS NUMBERED BY seq SEGMENTS ROLE role COUNT n BOUNDS opens TO closes;

-- From the dock into the truck, with a pickup on the way.
EVENT loaded(shift, a.pallet AS pallet) AS
  PATTERN SEQ(Seen a[zone = 'dock'], Pickup f, Seen b[zone = 'truck' AND pallet = a.pallet])
  WITHIN 25 SECONDS
  PARTITION BY shift
  PER VALUES;

-- A forklift came, and 15 seconds later the pallet is still not in the truck.
EVENT left_behind(shift, a.pallet AS pallet) AS
  PATTERN SEQ(Seen a[zone = 'dock'], Pickup f, NOT Seen b[zone = 'truck' AND pallet = a.pallet], AFTER 15 SECONDS)
  WITHIN 1 MINUTES
  PARTITION BY shift
  PER VALUES;

-- Picked up while the door was open, then seen in the truck. The pattern needs only the order of door events, not
-- lengths of time, so lost events can be enumerated.
EVENT through_open_door(shift, b.pallet AS pallet) AS
  PATTERN SEQ(Door o[role = 'open'], NOT Door c[role = 'close'], Pickup f, Seen b[zone = 'truck'])
  PARTITION BY shift
  PER VALUES;

-- Both events depend on the same readings, so their probabilities must not be multiplied.
EVENT loaded_at_second_try(shift, l.pallet AS pallet) AS
  PATTERN left_behind b AND loaded l
  WHERE b.pallet = l.pallet
  WITHIN 2 MINUTES
  PARTITION BY shift
  PER VALUES;
