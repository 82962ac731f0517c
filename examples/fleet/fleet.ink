-- A fleet of vehicles that report about once a minute.
-- Data: inkling generate fleet

STREAM Vehicle(id BIGINT, vehicle STRING, t TIMESTAMP, engine STRING, speed DOUBLE, fuel DOUBLE,
               satellites INT, lat DOUBLE, lon DOUBLE, ice BOOLEAN, near_gas BOOLEAN)
  ID id KEY vehicle TIME t ORDER BY id
  DERIVE distance = haversine(PREV(lat), PREV(lon), lat, lon),
         speedup = speed - PREV(speed),
         duration = SINCE_CHANGE(engine),
         engine_before = PREV(engine);

STREAM Alarm(id STRING, vehicle STRING, t TIMESTAMP, kind STRING) ID id KEY vehicle TIME t;

STREAM Service(id STRING, vehicle STRING, t TIMESTAMP, garage STRING) ID id KEY vehicle TIME t;

TABLE depots(vehicle STRING, depot STRING) FROM 'depots.csv';
TABLE garages(garage STRING, depot STRING) FROM 'garages.csv';

-- Routes and driving, one vehicle at a time.

-- From one long stop to the next. An engine that was just switched off has not been off for half an hour yet, so
-- the final stop has to last first.
EVENT route(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'off' AND duration > 30 MINUTES],
                     Vehicle[engine = 'moving']+,
                     Vehicle[engine = 'off' AND duration <= 30 MINUTES]*,
                     Vehicle[engine = 'off' AND duration > 30 MINUTES])
  PARTITION BY vehicle
  PER END;

EVENT parked_moving_swing(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'parked'], Vehicle[engine = 'moving'],
                     Vehicle[engine = 'parked'], Vehicle[engine = 'moving'])
  PARTITION BY vehicle
  PER END;

EVENT idle_parked_swing(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'idle'], Vehicle[engine = 'parked'],
                     Vehicle[engine = 'idle'], Vehicle[engine = 'parked'])
  PARTITION BY vehicle
  PER END;

EVENT speed_swing(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[speed > 50], Vehicle[speed = 0], Vehicle[speed > 50], Vehicle[speed = 0])
  PARTITION BY vehicle
  PER END;

EVENT moving_with_zero_speed(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'moving' AND speed = 0 AND distance > 30]{3,})
  PARTITION BY vehicle
  PER END;

EVENT moving_with_bad_signal(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[speedup > 0 AND satellites = 0 AND distance > 30]{3,})
  PARTITION BY vehicle
  PER END;

EVENT possible_theft(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'parked' AND speed = 0 AND distance > 30]{3,})
  PARTITION BY vehicle
  PER END;

EVENT dangerous_driving(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[ice AND speed > 60]{2,})
  PARTITION BY vehicle
  PER END;

EVENT refuel_opportunity(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[near_gas AND fuel < 0.5]{2,})
  PARTITION BY vehicle
  PER END;

-- Ten consecutive readings of driving with a high mean speed.
EVENT fast_stretch(vehicle) AS
  PATTERN SEQ STRICT(Vehicle v[engine = 'moving']{10})
  HAVING AVG(v.speed) > 70
  PARTITION BY vehicle
  PER END
  RETURN AVG(v.speed) AS mean_speed, MAX(v.speed) AS top_speed;

-- Fuel.

EVENT refuel(vehicle, b.fuel - a.fuel AS gained) AS
  PATTERN SEQ STRICT(Vehicle a, Vehicle b[fuel > a.fuel + 0.3])
  PARTITION BY vehicle;

-- No vehicle burns a full tank in two hours.
EVENT fuel_vanished(r.vehicle AS vehicle, low.fuel AS fuel) AS
  PATTERN SEQ NEXT(refuel r, Vehicle low[vehicle = r.vehicle AND fuel < 0.2])
  WITHIN 2 HOURS;

-- Alarms and the garage.

EVENT neglected_alarm(a.vehicle AS vehicle, a.kind AS kind) AS
  PATTERN SEQ(Alarm a, NOT Service s[vehicle = a.vehicle], AFTER 2 DAYS);

EVENT service_away_from_home(s.vehicle AS vehicle, s.garage AS garage) AS
  PATTERN Service s
  WHERE depots(s.vehicle, home) AND garages(s.garage, place) AND place <> home;

EVENT repair_did_not_last(s.vehicle AS vehicle, a.kind AS kind) AS
  PATTERN SEQ(Service s, Alarm a)
  WHERE a.vehicle = s.vehicle
  WITHIN 2 DAYS;

-- Towed away silently: no alarm in the half hour after the theft became evident. RESTART gives one result per theft,
-- whereas `possible_theft` continues with every further reading.
EVENT theft(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'parked' AND speed = 0 AND distance > 30]{3,})
  PARTITION BY vehicle
  CONSUME RESTART
  PER END;

EVENT silent_theft(p.vehicle AS vehicle) AS
  PATTERN SEQ(theft p, NOT Alarm a[vehicle = p.vehicle AND kind = 'tow'], AFTER 30 MINUTES);

-- Vehicles that meet.

EVENT stop(v.vehicle AS vehicle, v.lat AS lat, v.lon AS lon) AS
  PATTERN Vehicle v[engine = 'parked' AND engine_before = 'moving'];

EVENT yard_meeting(depot, x.vehicle AS first, y.vehicle AS second) AS
  PATTERN SEQ(stop x, stop y)
  WHERE depots(x.vehicle, depot) AND depots(y.vehicle, depot) AND x.vehicle <> y.vehicle
    AND haversine(x.lat, x.lon, y.lat, y.lon) < 50
  WITHIN 10 MINUTES;
