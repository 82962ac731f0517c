STREAM E(kind STRING, t BIGINT) TIME t;

-- Without ID, rows are numbered from 1.
EVENT pair AS
  PATTERN SEQ(E a[kind = 'a'], E b[kind = 'b']);
