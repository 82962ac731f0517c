-- Fires and the weather around them.
-- Data: inkling generate alarms

STREAM Observation(id BIGINT, place STRING, t TIMESTAMP, kind STRING, speed DOUBLE) ID id KEY place TIME t;
STREAM Fire(id STRING, place STRING, t TIMESTAMP) ID id KEY place TIME t;
STREAM Arrival(id STRING, place STRING, t TIMESTAMP, brigade STRING) ID id KEY place TIME t;

TABLE kinds(kind STRING, parent STRING) FROM 'kinds.csv';

-- Every kind of weather is of the kinds above it.
RULE is_a(kind, parent) IF kinds(kind, parent);
RULE is_a(kind, root) IF kinds(kind, parent) AND is_a(parent, root);

-- A fire, and wind of whatever name before or after it.
EVENT fanned_fire(f.place AS place) AS
  PATTERN Fire f AND Observation o[place = f.place AND is_a(kind, 'wind')]
  WITHIN 3 HOURS
  PER INTERVAL;

-- More than a tenth faster than at some observation of the hour before.
EVENT rising_wind(a.place AS place, b.speed AS speed) AS
  PATTERN SEQ(Observation a, Observation b[place = a.place AND speed > 1.1 * a.speed])
  WITHIN 1 HOUR
  PER INTERVAL;

-- The wind begins to rise where it burns, and nobody has come yet.
EVENT fire_alarm(f.place AS place, w.speed AS speed) AS
  PATTERN SEQ(Fire f, NOT Arrival[place = f.place], rising_wind w[place = f.place])
  WITHIN 3 HOURS;

-- The first brigade to come; its result lasts as long as the place had to wait.
EVENT attended(f.place AS place, a.brigade AS brigade) AS
  PATTERN SEQ(Fire f, NOT Arrival[place = f.place], Arrival a[place = f.place])
  WITHIN 6 HOURS;

EVENT unattended(f.place AS place) AS
  PATTERN SEQ(Fire f, NOT Arrival[place = f.place], AFTER 90 MINUTES);

-- Nobody came in time although there was wind.
EVENT out_of_hand(u.place AS place) AS
  PATTERN unattended u INTERSECTS fanned_fire w[place = u.place]
  WITHIN 5 HOURS
  PER END;
