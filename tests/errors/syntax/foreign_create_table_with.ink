CREATE TABLE V (id TEXT, s DOUBLE) WITH ('connector'='kafka');
