-- Events of a cluster whose recorded times are assumed to be exact; a tick is a tenth of a second.
-- Data: inkling generate cluster

STREAM TaskStart(id STRING, task STRING, node STRING, t BIGINT) ID id KEY node TIME t TICK 100 MILLISECONDS;
STREAM TaskFinish(id STRING, task STRING, node STRING, t BIGINT) ID id KEY node TIME t TICK 100 MILLISECONDS;
STREAM Cpu(id BIGINT, node STRING, metric STRING, t BIGINT, value DOUBLE)
  ID id KEY node TIME t TICK 100 MILLISECONDS;

TABLE nodes(node STRING, rack STRING) FROM 'nodes.csv';

-- A task that drives its node to the limit while it runs.
EVENT maxed_out(a.task AS task, a.node AS node, b.value AS load) AS
  PATTERN SEQ(TaskStart a, Cpu b, TaskFinish c, Cpu d)
  WHERE c.task = a.task AND b.node = a.node AND d.node = a.node AND b.value > 95 AND d.value <= 70
  WITHIN 15 SECONDS;

-- The mean load climbs by 15 or more from one sample to the next, twice in a row.
EVENT climbing(node) AS
  PATTERN SEQ NEXT(Cpu a[metric = 'mean'], Cpu b[metric = 'mean'], Cpu c[metric = 'mean'])
  HAVING b.value >= a.value + 15 AND c.value >= b.value + 15
  PARTITION BY node
  PER END
  RETURN c.value - a.value AS climbed;

-- Half a minute near the limit.
EVENT busy_run(node) AS
  PATTERN SEQ STRICT(Cpu c[value > 60]{4})
  HAVING AVG(c.value) > 80
  PARTITION BY node
  PER END;

-- A task that does not finish within ten minutes.
EVENT straggler(a.task AS task, a.node AS node) AS
  PATTERN SEQ(TaskStart a, NOT TaskFinish c[task = a.task], AFTER 10 MINUTES);

-- Two nodes of one rack that are driven to the limit one after the other. NEXT takes the first low sample only.
EVENT burst(a.node AS node) AS
  PATTERN SEQ NEXT(TaskStart a, Cpu b, TaskFinish c, Cpu d)
  WHERE c.task = a.task AND b.node = a.node AND d.node = a.node AND b.value > 95 AND d.value <= 70
  WITHIN 15 SECONDS;

EVENT hot_rack(rack, x.node AS first, y.node AS second) AS
  PATTERN SEQ(burst x, burst y)
  WHERE nodes(x.node, rack) AND nodes(y.node, rack) AND x.node <> y.node
  WITHIN 30 SECONDS;
