STREAM Bus(id STRING, line STRING, day BIGINT, arrived BIGINT, left BIGINT) ID id KEY line TIME FROM arrived TO left;

-- Every day alone; points are segments too.
EVENT earlier(x.line, y.line, day) AS
  PATTERN ALL Bus x STARTS_BEFORE ALL Bus y
  PARTITION BY day;
