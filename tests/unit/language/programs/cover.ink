EVENT cover(x.k, y.k) AS PATTERN ALL Duty x {DURING, EQUALS} SOME Shift y ON SAME site;
