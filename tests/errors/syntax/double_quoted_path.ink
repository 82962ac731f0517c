TABLE threshold(road STRING, top DOUBLE) FROM "thresholds.csv";
