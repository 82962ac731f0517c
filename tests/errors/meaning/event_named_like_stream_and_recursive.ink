STREAM Bus(road STRING, line INT) KEY road TIME t;
EVENT Bus(b.road, b.line + 1 AS line) AS PATTERN Bus b;
