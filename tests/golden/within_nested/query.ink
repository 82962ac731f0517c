STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;

-- The inner pair has its own limit.
EVENT burst AS
  PATTERN SEQ(A a, (SEQ(B b, C c) WITHIN 2 TICKS) bc)
  WITHIN 10 TICKS
  RETURN START(bc) AS began, END(bc) AS done;
