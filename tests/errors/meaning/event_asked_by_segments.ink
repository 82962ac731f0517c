STREAM Duty(id STRING, who STRING, began INT, ended INT) ID id KEY who TIME FROM began TO ended;
STREAM Pass(who STRING, t INT) KEY who TIME t;
EVENT both(x.who AS one, y.who AS other) AS PATTERN SOME Duty x INTERSECTS SOME Duty y WHERE Pass(x.who) AND NOT Pass(y.who);
EVENT some(COUNT(w) AS n) AS PATTERN WINDOW Duty w LAST 3 EVENTS WHERE Pass('ann');
