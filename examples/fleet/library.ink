-- The nine patterns of a fleet over raw readings; the program itself computes or looks up everything else.
-- Data: inkling generate fleet

STREAM Vehicle(id BIGINT, vehicle STRING, t TIMESTAMP, engine STRING, speed DOUBLE, fuel DOUBLE,
               satellites INT, lat DOUBLE, lon DOUBLE)
  ID id KEY vehicle TIME t ORDER BY id
  DERIVE distance = 1000 * great_circle(PREV(lat), PREV(lon), lat, lon, 6371),
         acceleration = (speed - PREV(speed)) / 3.6 / seconds(t - PREV(t)),
         duration = SINCE_CHANGE(engine);

TABLE stations(station STRING, lat DOUBLE, lon DOUBLE) FROM 'stations.csv';
TABLE weather(cell_lat DOUBLE, cell_lon DOUBLE, since TIMESTAMP, until TIMESTAMP, road STRING) FROM 'weather.csv';

-- A circle around every station.
RULE near_station(y, x) IF stations(_, station_y, station_x) AND haversine(y, x, station_y, station_x) < 300;

-- Weather by cells of a quarter of a degree and by the hour.
RULE icy(y, x, now) IF weather(floor(4 * y), floor(4 * x), since, until, 'ice') AND now >= since AND now < until;

-- F1. An engine that was just switched off has not been off for half an hour yet, so the final stop has to last
-- first.
EVENT route(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'off' AND duration > 30 MINUTES],
                     Vehicle[engine = 'moving']+,
                     Vehicle[engine = 'off' AND duration <= 30 MINUTES]*,
                     Vehicle[engine = 'off' AND duration > 30 MINUTES])
  PARTITION BY vehicle
  PER END;

-- F2
EVENT parked_moving_swing(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'parked'], Vehicle[engine = 'moving'],
                     Vehicle[engine = 'parked'], Vehicle[engine = 'moving'])
  PARTITION BY vehicle
  PER END;

-- F3
EVENT idle_parked_swing(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'idle'], Vehicle[engine = 'parked'],
                     Vehicle[engine = 'idle'], Vehicle[engine = 'parked'])
  PARTITION BY vehicle
  PER END;

-- F4
EVENT speed_swing(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[speed > 50], Vehicle[speed = 0], Vehicle[speed > 50], Vehicle[speed = 0])
  PARTITION BY vehicle
  PER END;

-- F5
EVENT moving_with_zero_speed(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'moving' AND speed = 0 AND distance > 30]{3,})
  PARTITION BY vehicle
  PER END;

-- F6
EVENT moving_with_bad_signal(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[acceleration > 0 AND satellites = 0 AND distance > 30]{3,})
  PARTITION BY vehicle
  PER END;

-- F7
EVENT possible_theft(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[engine = 'parked' AND speed = 0 AND distance > 30]{3,})
  PARTITION BY vehicle
  PER END;

-- F8
EVENT dangerous_driving(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[icy(lat, lon, t) AND speed > 60]{2,})
  PARTITION BY vehicle
  PER END;

-- F9
EVENT refuel_opportunity(vehicle) AS
  PATTERN SEQ STRICT(Vehicle[near_station(lat, lon) AND fuel < 0.5]{2,})
  PARTITION BY vehicle
  PER END;
