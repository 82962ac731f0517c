STREAM Light(id STRING, road STRING, color STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
EVENT a(x.road, START(y) AS since) AS
  PATTERN SEQ(Light l, (ALL Light x DURING SOME Light y))
  WHERE x.color = l.color;
