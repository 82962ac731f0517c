STREAM Fix(id BIGINT, boat STRING, mode STRING, x DOUBLE, t BIGINT, n BIGINT)
  ID id KEY boat TIME t ORDER BY n
  DERIVE step = x - PREV(x), since = SINCE_CHANGE(mode), mode_before = PREV(mode);

EVENT leap(boat) AS
  PATTERN SEQ STRICT(Fix[step > 5], Fix[step > 5])
  PARTITION BY boat
  PER END;

EVENT idle_for_long(f.boat AS boat, f.since AS since) AS
  PATTERN Fix f[mode = 'idle' AND since >= 3];

EVENT switched(f.boat AS boat, f.mode AS mode) AS
  PATTERN Fix f[mode <> mode_before];
