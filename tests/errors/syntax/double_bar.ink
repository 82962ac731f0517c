EVENT e AS PATTERN A a WHERE a.x > 1 || a.y > 2;
