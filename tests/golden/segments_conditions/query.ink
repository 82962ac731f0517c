STREAM Duty(id STRING, person STRING, site STRING, skill BIGINT, began BIGINT, ended BIGINT) ID id KEY person
  TIME FROM began TO ended;
STREAM Shift(id STRING, team STRING, area STRING, skill BIGINT, began BIGINT, ended BIGINT) ID id KEY team
  TIME FROM began TO ended;
TABLE lies_in(site STRING, area STRING) FROM 'lies_in.csv';

-- Every duty of the person lies inside some shift of the team in the same area that requires at most the person's skill.
EVENT cover(x.person, y.team) AS
  PATTERN ALL Duty x {DURING, EQUALS} SOME Shift y WHERE lies_in(x.site, y.area) AND x.skill >= y.skill;

-- Two duties of the person precede all shifts of the team in areas of their sites.
EVENT early(x.person, y.team) AS
  PATTERN AT LEAST 2 Duty x PRECEDES ALL Shift y WHERE lies_in(x.site, area) AND area = y.area AND area <> 'north';
