STREAM Light(id STRING, road STRING, color STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
STREAM Car(id STRING, road STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
EVENT a(x.road) AS PATTERN SEQ((ALL Light x DURING SOME Light y), Car y);
EVENT b(x.road) AS PATTERN (ALL Light x DURING SOME Light y) AND (SOME Light x MEETS SOME Car y);
EVENT c(x.road) AS PATTERN (ALL Light x DURING SOME Light y) OR (SOME Light x MEETS SOME Light z);
