-- Shops ask for deliveries, drivers bid for them, and the dispatcher watches what becomes of it.
-- Data: inkling generate flower

STREAM Gps(id STRING, driver STRING, lat DOUBLE, lon DOUBLE, t TIMESTAMP) ID id KEY driver TIME t;

STREAM Request(id STRING, request BIGINT, store STRING, lat DOUBLE, lon DOUBLE, due TIMESTAMP, t TIMESTAMP)
  ID id KEY request TIME t;
STREAM Bid(id STRING, request BIGINT, driver STRING, pick_up TIMESTAMP, t TIMESTAMP) ID id KEY request TIME t;
STREAM Choice(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM Dispatch(id STRING, request BIGINT, store STRING, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM Handover(id STRING, request BIGINT, giver STRING, taker STRING, t TIMESTAMP) ID id KEY request TIME t;

STREAM PickUp(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM Delivery(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM NobodyHome(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM Complaint(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
-- The dispatcher's calendar rings when the time allowed after a promise has passed.
STREAM Deadline(id STRING, request BIGINT, what STRING, driver STRING, t TIMESTAMP) ID id KEY request TIME t;

TABLE stores(store STRING, min_rank BIGINT, choice STRING) FROM 'stores.csv';
TABLE drivers(driver STRING, rank BIGINT) FROM 'drivers.csv';
TABLE rectangles(n BIGINT, region STRING, south DOUBLE, north DOUBLE, west DOUBLE, east DOUBLE) FROM 'rectangles.csv';

-- Where rectangles overlap, the one with the least number counts.
RULE covers(n, region, lat, lon) IF
  rectangles(n, region, south, north, west, east) AND south <= lat AND lat < north AND west <= lon AND lon < east;
RULE covered_before(n, lat, lon) IF covers(m, _, lat, lon) AND m < n;
RULE region_of(region, lat, lon) IF covers(n, region, lat, lon) AND NOT covered_before(n, lat, lon);

RULE verdict(faults, change) IF faults = 0 AND change = 1;
RULE verdict(faults, change) IF faults >= 1 AND faults < 5 AND change = 0;
RULE verdict(faults, change) IF faults >= 5 AND change = -1;

-- Bids.

EVENT enriched(r.request AS request, r.store AS store, min_rank, region) AS
  PATTERN Request r
  WHERE stores(r.store, min_rank, _) AND region_of(region, r.lat, r.lon);

EVENT multiplied(r.request AS request, driver, r.store AS store, r.min_rank AS min_rank, r.region AS region) AS
  PATTERN enriched r
  WHERE drivers(driver, _);

EVENT located(g.driver AS driver, rank, region) AS
  PATTERN Gps g
  WHERE drivers(g.driver, rank) AND region_of(region, g.lat, g.lon);

EVENT bid_request(m.request AS request, m.driver AS driver, m.store AS store) AS
  PATTERN multiplied m AND located g
  WHERE g.driver = m.driver AND g.region = m.region AND g.rank >= m.min_rank
  WITHIN 2 MINUTES;

EVENT valid_bid(b.request AS request, b.driver AS driver, rank) AS
  PATTERN Bid b
  WHERE drivers(b.driver, rank);

-- Who drives.

EVENT bids_closed(r.request AS request, r.store AS store, r.min_rank AS min_rank) AS
  PATTERN SEQ(enriched r, AFTER 2 MINUTES);

EVENT automatic(c.request AS request, c.store AS store, b.driver AS driver) AS
  PATTERN SEQ NEXT(enriched r, valid_bid b[request = r.request AND rank >= r.min_rank]) AND bids_closed c
  WHERE c.request = r.request AND stores(c.store, _, 'automatic');

-- The five best bids, which are those with fewer than five better ones: of a higher rank, or earlier at the same rank.
EVENT offer(r.request AS request, r.store AS store, b.driver AS driver, b.rank AS rank) AS
  PATTERN SEQ(enriched r, valid_bid b[request = r.request AND rank >= r.min_rank],
              NOT (valid_bid x[request = r.request]{5}), AFTER 2 MINUTES)
  WHERE stores(r.store, _, 'manual');
