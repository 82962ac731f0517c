-- Vessels that report their position once a minute; positions are enriched with nearby ports, areas and coasts.
-- Data: inkling generate port

STREAM Position(id BIGINT, mmsi BIGINT, t TIMESTAMP, lon DOUBLE, lat DOUBLE, speed DOUBLE, heading DOUBLE,
                cog DOUBLE, near_coast BOOLEAN, near_port BOOLEAN, in_anchorage BOOLEAN,
                in_fishing_area BOOLEAN, change_in_heading BOOLEAN)
  ID id KEY mmsi TIME t ORDER BY id;

TABLE vessels(mmsi BIGINT, type STRING) FROM 'vessels.csv';
TABLE ports(port STRING, lat DOUBLE, lon DOUBLE) FROM 'ports.csv';

EVENT high_speed_near_coast(mmsi) AS
  PATTERN SEQ STRICT(Position[near_coast AND speed > 5]+)
  PARTITION BY mmsi
  PER END;

EVENT anchored(mmsi) AS
  PATTERN SEQ STRICT(Position[(near_port OR in_anchorage) AND speed < 0.5]{3,})
  PARTITION BY mmsi
  PER END;

-- The angle is taken around the compass: a heading of 359 and a course of 1 agree.
EVENT drifting(mmsi) AS
  PATTERN SEQ STRICT(Position[angle_difference(heading, cog) > 30 AND speed > 0.5]{3,})
  PARTITION BY mmsi
  PER END;

EVENT trawling(mmsi) AS
  PATTERN SEQ STRICT(Position[vessels(mmsi, 'fishing') AND in_fishing_area AND speed > 1 AND speed < 9]{3,})
  PARTITION BY mmsi
  PER END;

EVENT search_and_rescue(mmsi) AS
  PATTERN SEQ STRICT(Position[change_in_heading AND vessels(mmsi, 'sar') AND speed > 2.7]{3,})
  PARTITION BY mmsi
  PER END;

EVENT loitering(mmsi) AS
  PATTERN SEQ STRICT(Position[NOT near_port AND NOT near_coast AND speed < 0.5]{3,})
  PARTITION BY mmsi
  PER END;

-- Through the bands 7 to 10 km, 5 to 7 km, and less than 5 km. A band includes its inner edge.
EVENT approaching_port(mmsi, port) AS
  PATTERN SEQ STRICT(
    Position a[ports(port, port_lat, port_lon) AND haversine(lat, lon, port_lat, port_lon) >= 7000
               AND haversine(lat, lon, port_lat, port_lon) < 10000],
    Position b[haversine(lat, lon, port_lat, port_lon) >= 5000
               AND haversine(lat, lon, port_lat, port_lon) < 7000]+,
    Position c[haversine(lat, lon, port_lat, port_lon) < 5000])
  PARTITION BY mmsi
  PER END;

-- The same for one port, with its position in the condition: one automaton, no join.
EVENT approaching_first_port(mmsi) AS
  PATTERN SEQ STRICT(
    Position[haversine(lat, lon, 42.0, -8.0) >= 7000 AND haversine(lat, lon, 42.0, -8.0) < 10000],
    Position[haversine(lat, lon, 42.0, -8.0) >= 5000 AND haversine(lat, lon, 42.0, -8.0) < 7000]+,
    Position[haversine(lat, lon, 42.0, -8.0) < 5000])
  PARTITION BY mmsi
  PER END;
