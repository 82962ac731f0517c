STREAM Light(id STRING, road STRING, lane INT, color STRING, began INT, ended INT) ID id KEY road, lane
  TIME FROM began TO ended;
EVENT a(x.road, y.color) AS PATTERN ALL Light x DURING SOME Light y;
EVENT b(x.road, START(y) AS since) AS PATTERN ALL Light x DURING SOME Light y;
EVENT c(x) AS PATTERN ALL Light x DURING SOME Light y;
EVENT d(x.road) AS PATTERN ALL Light x DURING SOME Light y HAVING x.color <> y.color;
