STREAM A(id STRING, t BIGINT) ID id TIME t;
STREAM B(id STRING, t BIGINT) ID id TIME t;
STREAM C(id STRING, t BIGINT) ID id TIME t;
STREAM D(id STRING, t BIGINT) ID id TIME t;

-- Only the nearest B after A; the two at time 2 are equally near.
EVENT nearest AS
  PATTERN SEQ NEXT(A a, B b, C c, D d);
