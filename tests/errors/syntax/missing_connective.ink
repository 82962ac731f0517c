EVENT e AS PATTERN SEQ(A a, B b) WHERE a.x = 1 b.y = 2;
