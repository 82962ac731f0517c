STREAM Login(id STRING, user STRING, ok BOOLEAN, t BIGINT) ID id TIME t;
STREAM Reset(id STRING, account STRING, t BIGINT) ID id TIME t;

-- Equal columns tie all parts together, so each user can be looked at alone.
EVENT guessed(a.user AS user) AS
  PATTERN SEQ(Login a[NOT ok], Login b[user = a.user AND NOT ok], Reset r[account = b.user])
  WITHIN 5 TICKS;
