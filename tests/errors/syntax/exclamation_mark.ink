EVENT e AS PATTERN SEQ(A a, !B b, C c);
