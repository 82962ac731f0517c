STREAM Request(id STRING, user STRING, t BIGINT) ID id TIME t;
STREAM Reply(id STRING, user STRING, code BIGINT, t BIGINT) ID id TIME t;

-- The absent event is compared with what stands before and after it.
EVENT retried(r.user AS user) AS
  PATTERN SEQ(Request r, NOT Reply[user = r.user AND code < ok.code], Reply ok[user = r.user]);
