-- Vessels that approach a port, and forecasts of their arrival after every report.
-- Data: inkling generate approach
STREAM Position(id BIGINT, mmsi BIGINT, t TIMESTAMP, lon DOUBLE, lat DOUBLE)
  ID id
  KEY mmsi
  TIME t
  ORDER BY id
  DERIVE away = haversine(lat, lon, 42.0, -8.0);

-- Through the bands 7 to 10 km, 5 to 7 km, and less than 5 km, without leaving them in between.
EVENT approaching_port(mmsi) AS
  PATTERN SEQ STRICT(
    Position[away >= 7000 AND away < 10000],
    Position[away >= 5000 AND away < 7000]+,
    Position[away < 5000]
  )
  PARTITION BY mmsi
  CONSUME RESTART
  PER END;

-- Does the vessel arrive within the next five reports? Every forecast, however unlikely.
FORECAST soon OF approaching_port WITHIN 5 EVENTS MODEL approach;

-- When does the vessel arrive? The shortest interval of reports with a probability of three quarters.
FORECAST arrival OF approaching_port INTERVAL SHORTEST CONFIDENCE >= 0.75 HORIZON 60 MODEL approach;
