EVENT e AS PATTERN A a WHERE a.x = AND a.y = 2;
