STREAM Car(id STRING, road STRING, began INT, ended INT) ID id TIME FROM began TO ended;
STREAM Light(road STRING, began INT, ended INT) KEY road TIME FROM began TO ended;
EVENT seen(y.road) AS PATTERN ALL Car x DURING SOME Light y;
