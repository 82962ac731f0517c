STREAM Cpu(id BIGINT, node STRING, value DOUBLE, t BIGINT) ID id KEY node TIME t;

EVENT busy(node) AS
  PATTERN SEQ STRICT(Cpu c[value > 50]{3})
  HAVING AVG(c.value) > 70 AND MIN(c.value) >= 55
  PARTITION BY node
  RETURN COUNT(c) AS n, SUM(c.value) AS total, MAX(c.value) AS top, MEDIAN(c.value) AS middle, STDDEV(c.value) AS spread;
