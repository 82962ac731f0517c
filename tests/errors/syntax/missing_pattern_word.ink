EVENT e AS SEQ(A a, B b);
