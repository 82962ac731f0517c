STREAM Bus(id STRING, line STRING, bus STRING, role STRING, n INT, t TIMESTAMP) ID id KEY line, bus TIME t
  NUMBERED BY n SEGMENTS ROLE role;
EVENT together(x.line, x.bus, y.line, y.bus) AS PATTERN SOME Bus x INTERSECTS SOME Bus y;
EVENT soon(line, x.bus, y.bus) AS PATTERN SOME Bus x INTERSECTS SOME Bus y PARTITION BY line CONFIDENCE > 0.5 EARLY;
