STREAM Req(id INT) TIME t;
STREAM Rep(id INT) TIME t;
EVENT alarm(r) AS PATTERN SEQ(Req r, NOT Rep[id = r.id], AFTER 10 TICKS);
