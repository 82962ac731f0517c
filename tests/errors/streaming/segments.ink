STREAM Light(id STRING, road STRING, began TIMESTAMP, ended TIMESTAMP) ID id KEY road TIME FROM began TO ended;
EVENT shared(x.road, y.road) AS PATTERN AT LEAST 2 Light x INTERSECTS SOME Light y;
