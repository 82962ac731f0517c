STREAM Light(id STRING, road STRING, color STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
EVENT red(road AS place, l.color) AS PATTERN Light l PARTITION BY road;
EVENT a(x.place, y.color) AS PATTERN ALL red x DURING SOME red y;
