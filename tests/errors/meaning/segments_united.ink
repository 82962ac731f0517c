STREAM Light(road STRING, began INT, ended INT) KEY road TIME FROM began TO ended;
EVENT near(x.road) AS PATTERN SOME Light x INTERSECTS SOME Light y;
EVENT near(x.road) AS PATTERN SOME Light x MEETS SOME Light y;
