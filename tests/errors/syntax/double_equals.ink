EVENT e AS PATTERN A a[speed == 30];
