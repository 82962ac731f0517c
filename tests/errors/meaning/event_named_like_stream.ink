STREAM Car(id STRING, road STRING, speed DOUBLE, lane INT, braking BOOLEAN) ID id KEY road TIME t;
STREAM Light(road STRING, color STRING) KEY road TIME t;
STREAM Bus(road STRING, line INT) KEY road TIME t;
EVENT Car AS PATTERN Car c[speed > 50] WHERE c.lane = 1;
EVENT Light(b.road, b.line AS color) AS PATTERN Bus b;
EVENT later AS PATTERN SEQ(Car a, Light b[color = 'red']);
