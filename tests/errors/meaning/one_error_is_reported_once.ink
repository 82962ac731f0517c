STREAM Car(id STRNG, speed DOUBLE) TIME t;
EVENT seen(c.id, c.speed) AS PATTERN Car c;
EVENT again AS PATTERN seen x WHERE x.id = 'q' AND x.speed > 'fast';
EVENT first(c.load) AS PATTERN Truck c WHERE weighs(c.load, w) AND w > 3;
EVENT second(c.load) AS PATTERN Truck c WHERE NOT weighs(c.load, w);
EVENT third AS PATTERN SEQ(second y, Car c) WHERE y.load = 3 AND c.sped > 3;
