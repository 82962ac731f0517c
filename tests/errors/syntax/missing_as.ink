EVENT e(x) PATTERN SEQ(A a, B b);
