STREAM Light(id STRING, road STRING, color STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
TABLE colors(name STRING, safe STRING) FROM 'colors.csv';
EVENT a(x.road) AS PATTERN SEQ(Light l, ALL Light x DURING SOME Light y);
EVENT c(x.road) AS PATTERN ALL Light x DURING SOME Light y WHERE x.color = y.color;
EVENT d(x.road) AS PATTERN ALL Light x DURING SOME Light y WHERE colors(x.color, safe);
