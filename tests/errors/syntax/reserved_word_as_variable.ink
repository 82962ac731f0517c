EVENT e AS PATTERN A top[x > 1];
