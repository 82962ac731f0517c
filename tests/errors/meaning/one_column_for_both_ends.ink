STREAM Shift(worker STRING) TIME FROM t TO t;
