-- Tasks on a cluster and the load of its nodes; a tick is a tenth of a second. Times are imprecise: the log is accurate
-- to half a second, and a sample of the monitor was taken at some time in the 15 seconds around it.
-- Data: inkling generate cluster

STREAM TaskStart(id STRING, task STRING, node STRING, t BIGINT)
  ID id KEY node TIME t ± 500 MILLISECONDS TICK 100 MILLISECONDS;
STREAM TaskFinish(id STRING, task STRING, node STRING, t BIGINT)
  ID id KEY node TIME t ± 500 MILLISECONDS TICK 100 MILLISECONDS;
STREAM PullStart(id STRING, pull STRING, node STRING, t BIGINT)
  ID id KEY node TIME t ± 500 MILLISECONDS TICK 100 MILLISECONDS;
STREAM PullEnd(id STRING, pull STRING, node STRING, t BIGINT)
  ID id KEY node TIME t ± 500 MILLISECONDS TICK 100 MILLISECONDS;
STREAM Cpu(id BIGINT, node STRING, metric STRING, t BIGINT, value DOUBLE)
  ID id KEY node TIME t ± 7500 MILLISECONDS TICK 100 MILLISECONDS;

-- A task that drives its node to the limit: begun, a load above 95 %, finished, and a load that is low again.
EVENT maxed_out(node, a.task AS task, b.value AS load) AS
  PATTERN SEQ(TaskStart a, Cpu b[value > 95], TaskFinish c[task = a.task], Cpu d[value <= 70])
  WITHIN 15 SECONDS
  PARTITION BY node;

-- Data is pulled from other nodes, and the next load above 85 % is sampled before the pull ends.
EVENT strained_by_pull(node, s.pull AS pull, b.value AS load) AS
  PATTERN SEQ NEXT(PullStart s, Cpu b[value > 85], PullEnd e[pull = s.pull])
  WITHIN 15 SECONDS
  PARTITION BY node;

-- A task that ends within a minute and meets no load above 95 % on its node.
EVENT calm(node, a.task AS task) AS
  PATTERN SEQ(TaskStart a, NOT Cpu b[value > 95], TaskFinish c[task = a.task])
  WITHIN 1 MINUTES
  PARTITION BY node;

-- The mean load rises by 10 or more, once or several times in a row, while a task runs.
EVENT rising(node, a.task AS task) AS
  PATTERN SEQ(
    TaskStart a,
    Cpu b[metric = 'mean'],
    Cpu r[metric = 'mean' AND value >= b.value + 10 AND value >= LAST(r).value + 10]+,
    TaskFinish c[task = a.task]
  )
  WITHIN 1 MINUTES
  PARTITION BY node
  RETURN COUNT(r) AS rises;
