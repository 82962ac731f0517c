STREAM Reading(id STRING, value DOUBLE, t BIGINT) ID id TIME t;

EVENT high(r.value AS value) AS
  PATTERN Reading r[value > 10 AND value <> 99]
  PER VALUES;
