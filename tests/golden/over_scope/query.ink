STREAM A(id STRING, k STRING, t BIGINT) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, t BIGINT) ID id KEY k TIME t;
STREAM C(id STRING, k STRING, t BIGINT) ID id KEY k TIME t;

-- A B of another key is not in the way; one of the same key is.
EVENT contiguous(k) AS
  PATTERN SEQ STRICT(A a, C c)
  PARTITION BY k
  OVER (A, B, C);

EVENT named_streams_only(k) AS
  PATTERN SEQ STRICT(A a, C c)
  PARTITION BY k;
