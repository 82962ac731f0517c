STREAM Light(id STRING, town STRING, began INT, ended INT) ID id KEY town TIME FROM began TO ended;
EVENT red(town) AS PATTERN Light l PARTITION BY town PER INTERVAL;
EVENT red(town) AS PATTERN both b PARTITION BY town PER INTERVAL;
EVENT both(town) AS PATTERN SOME red x MEETS SOME Light y PARTITION BY town;
