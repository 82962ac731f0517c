-- Fires and the weather around them.
-- Data: inkling generate alarms

STREAM Observation(id BIGINT, place STRING, t TIMESTAMP, kind STRING, speed DOUBLE) ID id KEY place TIME t;
STREAM Fire(id STRING, place STRING, t TIMESTAMP) ID id KEY place TIME t;
STREAM Arrival(id STRING, place STRING, t TIMESTAMP, brigade STRING) ID id KEY place TIME t;

TABLE kinds(kind STRING, parent STRING) FROM 'kinds.csv';

-- A kind of weather also belongs to all kinds above it.
RULE is_a(kind, parent) IF kinds(kind, parent);
RULE is_a(kind, root) IF kinds(kind, parent) AND is_a(parent, root);

-- A fire, and any kind of wind before or after it.
EVENT fanned_fire(f.place AS place) AS
  PATTERN Fire f AND Observation o[place = f.place AND is_a(kind, 'wind')]
  WITHIN 3 HOURS
  PER INTERVAL;

-- More than ten percent faster than at some observation in the previous hour.
EVENT rising_wind(a.place AS place, b.speed AS speed) AS
  PATTERN SEQ(Observation a, Observation b[place = a.place AND speed > 1.1 * a.speed])
  WITHIN 1 HOUR
  PER INTERVAL;

-- The wind begins to rise at a fire that no brigade has reached yet.
EVENT fire_alarm(f.place AS place, w.speed AS speed) AS
  PATTERN SEQ(Fire f, NOT Arrival[place = f.place], rising_wind w[place = f.place])
  WITHIN 3 HOURS;

-- The first brigade to arrive; the result lasts from the fire to its arrival.
EVENT attended(f.place AS place, a.brigade AS brigade) AS
  PATTERN SEQ(Fire f, NOT Arrival[place = f.place], Arrival a[place = f.place])
  WITHIN 6 HOURS;

EVENT unattended(f.place AS place) AS
  PATTERN SEQ(Fire f, NOT Arrival[place = f.place], AFTER 90 MINUTES);

-- No brigade arrived in time, although there was wind.
EVENT out_of_hand(u.place AS place) AS
  PATTERN unattended u INTERSECTS fanned_fire w[place = u.place]
  WITHIN 5 HOURS
  PER END;
