STREAM S(a INTEGER, t BIGINT) TIME t;
RULE known(known(1));
EVENT f AS PATTERN S s WHERE known(s.a);
