STREAM Light(id STRING, road STRING, lane INT, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
EVENT red AS PATTERN Light l;
EVENT long(lane) AS PATTERN Light l PARTITION BY road, lane;
EVENT odd(l.road, m.lane) AS PATTERN Light l OR SEQ(Light m, Light n) PARTITION BY lane;
EVENT a AS PATTERN ALL red x DURING SOME Light y;
EVENT b AS PATTERN ALL Light x DURING SOME long y;
EVENT c AS PATTERN ALL odd x DURING SOME Light y;
