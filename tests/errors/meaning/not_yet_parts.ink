STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';
EVENT a3 AS PATTERN SEQ NEXT(Car a, (Light b+ CHECK (b.color = 'red') WITHIN 5 SECONDS));
EVENT a4 AS PATTERN SEQ NEXT(Car a, (SEQ(Light b, Car c))+ CHECK (b.color = 'red'));
EVENT a8 AS PATTERN SEQ NEXT(Car a, (Light b CHECK (b.color = 'red'))?);
