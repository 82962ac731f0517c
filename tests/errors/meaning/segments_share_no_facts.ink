STREAM Light(id STRING, road STRING, color STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
TABLE shines(color STRING, hours INT) FROM 'shines.csv';
EVENT a(x.road, hours) AS PATTERN ALL Light x DURING SOME Light y WHERE shines(x.color, hours);
EVENT b(x.road) AS PATTERN ALL Light x DURING SOME Light y WHERE shines(y.color, hours) HAVING hours > 1;
