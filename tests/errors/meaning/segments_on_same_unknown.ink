STREAM Car(id STRING, road STRING, lane STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
STREAM Light(id STRING, road STRING, lane INT, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
EVENT a(x.road) AS PATTERN ALL Car x DURING SOME Light y ON SAME color;
EVENT b(x.road) AS PATTERN ALL Car x DURING SOME Light y ON SAME lane;
