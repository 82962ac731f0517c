-- One stream counts its rows, the other one names them. At one time, numbers come before texts.
STREAM Count(id BIGINT, s STRING, t BIGINT, n BIGINT) ID id TIME t ORDER BY n;
STREAM Name(id BIGINT, s STRING, t BIGINT, label STRING) ID id TIME t ORDER BY label;

EVENT pair AS
  PATTERN SEQ STRICT(Count | Name a[s = 'A'], Count | Name b[s = 'B']);

-- The results have places too, also as parts of other patterns.
EVENT after_pair AS
  PATTERN SEQ(pair p, Name c[s = 'C']);
