STREAM Congestion(sector STRING, role STRING) KEY sector TIME t NUMBERED BY seq SEGMENTS ROLE role;
EVENT share(x.sector, y.sector) AS
  PATTERN AT LEAST 2 Congestion x INTERSECTS SOME Congestion y CONFIDENCE > 0.5;
