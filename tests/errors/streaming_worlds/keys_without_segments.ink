STREAM Bus(id STRING, line STRING, bus STRING, stop STRING, role STRING, n INT, t TIMESTAMP) ID id KEY line, bus TIME t
  NUMBERED BY n SEGMENTS ROLE role TIMEOUT 10 MINUTES;
STREAM Shift(name STRING, part STRING, stop STRING, n INT, total INT, t TIMESTAMP) KEY name TIME t
  NUMBERED BY n SEGMENTS COUNT total TIMEOUT 10 MINUTES;
EVENT marked(x.line, x.bus, y.name) AS PATTERN ALL Bus x DURING SOME Shift y;
EVENT counted(x.name, y.line, y.bus) AS PATTERN ALL Shift x DURING SOME Bus y;
EVENT chosen(x.line, x.bus, y.name) AS PATTERN ALL Bus x DURING SOME Shift y WHERE x.stop = 'market';
EVENT same(x.line, x.bus, y.name) AS PATTERN SOME Bus x DURING ALL Shift y ON SAME stop;
EVENT any(x.line, x.bus, y.name) AS PATTERN AT LEAST 0 Bus x DURING SOME Shift y;
