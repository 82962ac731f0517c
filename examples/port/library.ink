-- The seven patterns of vessels over raw positions; the program itself looks up ports, areas and coasts.
-- Data: inkling generate port

STREAM Position(id BIGINT, mmsi BIGINT, t TIMESTAMP, lon DOUBLE, lat DOUBLE, speed DOUBLE, heading DOUBLE, cog DOUBLE)
  ID id KEY mmsi TIME t ORDER BY id
  DERIVE turned = angle_difference(heading, PREV(heading));

TABLE vessels(mmsi BIGINT, type STRING) FROM 'vessels.csv';
TABLE ports(port STRING, lat DOUBLE, lon DOUBLE) FROM 'ports.csv';
TABLE areas(area STRING, kind STRING, shape STRING) FROM 'areas.csv';

-- Circles around points, and shapes on the map. A degree of latitude has 111.2 km; off these coasts 300 m are taken as
-- 0.0027 degrees in every direction.
RULE near_port(y, x) IF ports(_, port_y, port_x) AND haversine(y, x, port_y, port_x) < 2000;
RULE inside(kind, y, x) IF areas(_, kind, shape) AND contains(shape, x, y);
RULE near_coast(y, x) IF areas(_, 'coast', shape) AND distance_to(shape, x, y) < 0.0027;

-- M1
EVENT high_speed_near_coast(mmsi) AS
  PATTERN SEQ STRICT(Position[near_coast(lat, lon) AND speed > 5]+)
  PARTITION BY mmsi
  PER END;

-- M2
EVENT anchored(mmsi) AS
  PATTERN SEQ STRICT(Position[(near_port(lat, lon) OR inside('anchorage', lat, lon)) AND speed < 0.5]{3,})
  PARTITION BY mmsi
  PER END;

-- M3. The angle is taken around the compass: a heading of 359 and a course of 1 agree.
EVENT drifting(mmsi) AS
  PATTERN SEQ STRICT(Position[angle_difference(heading, cog) > 30 AND speed > 0.5]{3,})
  PARTITION BY mmsi
  PER END;

-- M4
EVENT trawling(mmsi) AS
  PATTERN SEQ STRICT(Position[vessels(mmsi, 'fishing') AND inside('fishing', lat, lon) AND speed > 1 AND speed < 9]{3,})
  PARTITION BY mmsi
  PER END;

-- M5
EVENT search_and_rescue(mmsi) AS
  PATTERN SEQ STRICT(Position[turned > 30 AND vessels(mmsi, 'sar') AND speed > 2.7]{3,})
  PARTITION BY mmsi
  PER END;

-- M6
EVENT loitering(mmsi) AS
  PATTERN SEQ STRICT(Position[NOT near_port(lat, lon) AND NOT near_coast(lat, lon) AND speed < 0.5]{3,})
  PARTITION BY mmsi
  PER END;

-- M7 for every port: through the bands 7 to 10 km, 5 to 7 km, and less than 5 km. A band includes its inner edge.
EVENT approaching_port(mmsi, port) AS
  PATTERN SEQ STRICT(
    Position a[ports(port, port_lat, port_lon) AND haversine(lat, lon, port_lat, port_lon) >= 7000
               AND haversine(lat, lon, port_lat, port_lon) < 10000],
    Position b[haversine(lat, lon, port_lat, port_lon) >= 5000
               AND haversine(lat, lon, port_lat, port_lon) < 7000]+,
    Position c[haversine(lat, lon, port_lat, port_lon) < 5000])
  PARTITION BY mmsi
  PER END;
