STREAM Light(id STRING, road STRING, color STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended;
EVENT a(x.road) AS PATTERN ALL Light x DURING SOME Light y PER MATCH;
EVENT b(x.road) AS PATTERN ALL Light x DURING SOME Light y WITHIN 5 EVENTS;
EVENT c(x.road) AS PATTERN ALL Light x DURING SOME Light y KEEP FOR 5 TICKS;
EVENT d(x.road) AS PATTERN ALL Light x DURING SOME Light y CONSUME RESTART;
EVENT e(x.road) AS PATTERN ALL Light x DURING SOME Light y OVER (Light);
EVENT f(x.road) AS PATTERN ALL Light x DURING SOME Light y RETURN y.road AS other;
