EVENT e AS PATTERN A a[1 < x < 5];
