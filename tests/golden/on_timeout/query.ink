STREAM Request(id STRING, call STRING, t BIGINT) ID id TIME t;
STREAM Answer(id STRING, call STRING, code BIGINT, t BIGINT) ID id TIME t;
STREAM Confirm(id STRING, call STRING, t BIGINT) ID id TIME t;

EVENT done(r.call AS call) AS
  PATTERN SEQ(Request r, Answer a[call = r.call], Confirm c[call = r.call])
  WITHIN 5 TICKS
  RETURN a.code AS code
  ON TIMEOUT stuck;
