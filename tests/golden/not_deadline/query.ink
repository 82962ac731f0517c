STREAM Req(id STRING, job BIGINT, t BIGINT) ID id TIME t;
STREAM Rep(id STRING, job BIGINT, t BIGINT) ID id TIME t;

-- The result ends at the deadline; a reply exactly then comes too late to help and too late to harm.
EVENT alarm(r.job AS job) AS
  PATTERN SEQ(Req r, NOT Rep[job = r.job], AFTER 10 TICKS);
