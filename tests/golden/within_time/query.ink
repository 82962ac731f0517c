STREAM Tap(id STRING, card STRING, station STRING, at TIMESTAMP) ID id KEY card TIME at;

-- Exactly five minutes is still within five minutes.
EVENT hop(x.card AS card) AS
  PATTERN SEQ(Tap x, Tap y)
  WHERE y.card = x.card AND y.station <> x.station
  WITHIN 5 MINUTES;
