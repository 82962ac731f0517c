-- Functions of single events inside conditions that compare several: computed as columns first.
STREAM Plate(id BIGINT, text STRING, x INT, t BIGINT) ID id TIME t;
TABLE known(text STRING) FROM 'known.csv';

EVENT same_plate AS
  PATTERN SEQ(Plate a, Plate b[lower(text) = lower(a.text)]);

EVENT longer_or_unknown AS
  PATTERN SEQ NEXT(Plate a, Plate b[length(text) > length(a.text) OR (NOT known(text) AND x > a.x)]);
