EVENT e AS PATTERN SEQ(A a[x > 1, B b);
