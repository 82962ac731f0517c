STREAM Car(id STRING, road STRING) ID id TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(road, short_name(next)) IF joins(road, next);
RULE linked(road, last) IF linked(road, next) AND joins(next, last);
EVENT trip(a.road) AS PATTERN SEQ(Car a, Car b) WHERE linked(a.road, b.road);
