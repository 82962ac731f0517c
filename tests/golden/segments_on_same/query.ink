STREAM Duty(id STRING, person STRING, site STRING, began BIGINT, ended BIGINT) ID id KEY person TIME FROM began TO ended;
STREAM Shift(id STRING, team STRING, site STRING, began BIGINT, ended BIGINT) ID id KEY team TIME FROM began TO ended;

-- Every duty of the person lies inside some shift of the team at the same site.
EVENT cover(x.person, y.team) AS
  PATTERN ALL Duty x {DURING, EQUALS} SOME Shift y ON SAME site;
