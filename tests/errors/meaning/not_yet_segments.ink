STREAM Light(id STRING, road STRING, color STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
TABLE goes(color STRING, after STRING) FROM 'goes.csv';
EVENT c(x.road) AS PATTERN ALL Light x DURING SOME Light y WHERE x.color = y.color;
EVENT d(x.road) AS PATTERN ALL Light x DURING SOME Light y WHERE goes(x.color, y.color);
