STREAM Start(id STRING, task STRING, node STRING, t BIGINT) ID id KEY node TIME t;
STREAM Load(id STRING, node STRING, value DOUBLE, t BIGINT) ID id KEY node TIME t;
STREAM Finish(id STRING, task STRING, node STRING, t BIGINT) ID id KEY node TIME t;

EVENT maxed_out(a.task AS task, b.value AS load) AS
  PATTERN SEQ(Start a, Load b, Finish c, Load d)
  WHERE c.task = a.task AND b.node = a.node AND d.node = a.node AND b.value > 95 AND d.value <= b.value - 20
  WITHIN 15 TICKS;
