STREAM Light(id STRING, road STRING, color STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
EVENT a(x.road) AS PATTERN SEQ(Light l, (AT LEAST n FROM 1 TO 3 Light x DURING SOME Light y));
