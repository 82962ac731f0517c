-- One event demands exact numbers, the other is content with samples of everything.
STREAM Alarm(id STRING, node STRING, lo BIGINT, hi BIGINT) ID id KEY node TIME BETWEEN lo AND hi;
STREAM Login(id STRING, node STRING, t BIGINT) ID id KEY node TIME t;

EVENT broken_into(node) AS
  PATTERN SEQ(Login a, Alarm b)
  WITHIN 30 TICKS
  PARTITION BY node
  EXACT;

EVENT silent(node) AS
  PATTERN SEQ(Login a, NOT Alarm, Login b)
  WITHIN 30 TICKS
  PARTITION BY node
  CONFIDENCE > 0.9
  TOP 10
  SAMPLED;
