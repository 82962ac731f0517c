-- Shops ask for deliveries, drivers bid for them, and the dispatcher monitors the requests.
-- Data: inkling generate flower

STREAM Gps(id BIGINT, driver STRING, lat DOUBLE, lon DOUBLE, t TIMESTAMP) ID id KEY driver TIME t;

STREAM Request(id STRING, request BIGINT, store STRING, lat DOUBLE, lon DOUBLE, t TIMESTAMP) ID id KEY request TIME t;
STREAM Bid(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM StoreChoice(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM ByHand(id STRING, request BIGINT, store STRING, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM Handover(id STRING, request BIGINT, giver STRING, taker STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM PickUp(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM Delivery(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM NobodyHome(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM Complaint(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;

-- Timers of the dispatcher: the deadline of a bid or a request has passed.
STREAM PickUpDue(id STRING, request BIGINT, driver STRING, t TIMESTAMP) ID id KEY request TIME t;
STREAM DeliveryDue(id STRING, request BIGINT, t TIMESTAMP) ID id KEY request TIME t;

STREAM Joined(id STRING, driver STRING, t TIMESTAMP) ID id KEY driver TIME t;
STREAM ShiftStart(id STRING, driver STRING, t TIMESTAMP) ID id KEY driver TIME t;
STREAM ShiftEnd(id STRING, driver STRING, t TIMESTAMP) ID id KEY driver TIME t;
STREAM Week(id STRING, t TIMESTAMP) ID id TIME t;

TABLE stores(store STRING, min_rank BIGINT, choice STRING) FROM 'stores.csv';
TABLE drivers(driver STRING, rank BIGINT) FROM 'drivers.csv';
TABLE rectangles(n BIGINT, region STRING, south DOUBLE, north DOUBLE, west DOUBLE, east DOUBLE) FROM 'rectangles.csv';

-- Where rectangles overlap, the one with the lowest number counts.
RULE covers(n, region, lat, lon) IF
  rectangles(n, region, south, north, west, east) AND south <= lat AND lat < north AND west <= lon AND lon < east;
RULE covered_before(n, lat, lon) IF covers(m, _, lat, lon) AND m < n;
RULE region_of(region, lat, lon) IF covers(n, region, lat, lon) AND NOT covered_before(n, lat, lon);

-- Bids.

EVENT enriched(request, r.store AS store, min_rank, region) AS
  PATTERN Request r
  WHERE stores(r.store, min_rank, _) AND region_of(region, r.lat, r.lon)
  PARTITION BY request;

EVENT multiplied(r.request AS request, driver, r.min_rank AS min_rank, r.region AS region) AS
  PATTERN enriched r
  WHERE drivers(driver, _);

EVENT located(driver, rank, region) AS
  PATTERN Gps g
  WHERE drivers(g.driver, rank) AND region_of(region, g.lat, g.lon)
  PARTITION BY driver;

EVENT bid_request(m.request AS request, driver) AS
  PATTERN multiplied m AND located g
  WHERE g.region = m.region AND g.rank >= m.min_rank
  WITHIN 2 MINUTES
  PARTITION BY driver;

EVENT ranked_bid(request, b.driver AS driver, rank) AS
  PATTERN Bid b
  WHERE drivers(b.driver, rank)
  PARTITION BY request;

EVENT bids_closed(request, r.store AS store) AS
  PATTERN SEQ(enriched r, AFTER 2 MINUTES)
  PARTITION BY request;

EVENT no_bid_alert(request, r.store AS store) AS
  PATTERN SEQ(enriched r, NOT Bid, AFTER 2 MINUTES)
  PARTITION BY request;

-- Assignment of drivers. A store lets the system take the first bid, or chooses among the five best.

EVENT automatic(request, c.store AS store, b.driver AS driver) AS
  PATTERN SEQ NEXT(enriched r, ranked_bid b[rank >= r.min_rank]) AND bids_closed c
  WHERE stores(c.store, _, 'automatic')
  PARTITION BY request;

-- One of the five best has fewer than five better ones: of a higher rank, or earlier and of the same rank.
EVENT offer(request, r.store AS store, b.driver AS driver, b.rank AS rank) AS
  PATTERN ranked_bid b
      AND SEQ(enriched r[min_rank <= b.rank],
              NOT SEQ(ranked_bid x[rank > b.rank OR rank = b.rank AND END(x) < END(b)]{5}),
              AFTER 2 MINUTES)
  WHERE stores(r.store, _, 'manual')
  WITHIN 2 MINUTES
  PARTITION BY request;

EVENT offered(request, o.store AS store) AS
  PATTERN offer o
  PARTITION BY request
  PER INTERVAL;

EVENT no_choice_alert(request, o.store AS store) AS
  PATTERN SEQ(offered o, NOT StoreChoice, AFTER 1 MINUTES)
  PARTITION BY request;

EVENT assigned(request, a.store AS store, a.driver AS driver) AS
  PATTERN automatic a
  PARTITION BY request;

EVENT assigned(request, o.store AS store, o.driver AS driver) AS
  PATTERN SEQ(offer o, StoreChoice c[driver = o.driver])
  PARTITION BY request;

EVENT assigned(request, d.store AS store, d.driver AS driver) AS
  PATTERN ByHand d
  PARTITION BY request;

-- A driver may hand over to one of equal or higher rank, who may hand over again. The bidder's promise remains valid.
EVENT in_charge(request, a.store AS store, a.driver AS bidder, a.driver AS driver) AS
  PATTERN assigned a
  PARTITION BY request
  PER INTERVAL;

EVENT in_charge(request, a.store AS store, a.bidder AS bidder, h.taker AS driver) AS
  PATTERN SEQ(in_charge a, Handover h[giver = a.driver])
  WHERE stores(a.store, _, 'automatic') AND drivers(h.giver, his) AND drivers(h.taker, other) AND his <= other
  PARTITION BY request
  PER INTERVAL;

-- Faults.

EVENT pick_up_alert(request, a.driver AS driver) AS
  PATTERN SEQ(in_charge a,
              NOT PickUp p[driver = a.driver],
              NOT Handover h[giver = a.driver],
              PickUpDue d[driver = a.bidder])
  PARTITION BY request;

EVENT delivery_alert(request, a.driver AS driver) AS
  PATTERN SEQ(in_charge a,
              NOT Delivery x[driver = a.driver],
              NOT Handover h[giver = a.driver],
              NOT NobodyHome,
              DeliveryDue d)
  PARTITION BY request;

-- The record of a driver, who is rated after every twenty deliveries: `last` is the previous rating. A fault starts
-- with the request and may overlap other steps, so steps are ordered by their end.

EVENT step(driver, 0 AS delivered, 1 AS faulty) AS PATTERN delivery_alert a PARTITION BY driver;
EVENT step(driver, 0 AS delivered, 1 AS faulty) AS PATTERN Complaint c PARTITION BY driver;
EVENT step(driver, 1 AS delivered, 0 AS faulty) AS PATTERN Delivery d PARTITION BY driver;

EVENT hired(driver, rank) AS
  PATTERN Joined j
  WHERE drivers(j.driver, rank)
  PARTITION BY driver;

EVENT record(driver, n, faults, rank, last) AS
  PATTERN hired h
  WHERE n = 0 AND faults = 0 AND rank = h.rank AND last = 0
  PARTITION BY driver
  CONSUME RECENT
  PER INTERVAL;

EVENT record(driver, n, faults, rank, last) AS
  PATTERN record p[n < 20] {PRECEDES, OVERLAPS, STARTS, DURING} step s
  WHERE n = p.n + s.delivered AND faults = p.faults + s.faulty AND rank = p.rank AND last = p.last
  PARTITION BY driver
  CONSUME RECENT
  PER INTERVAL;

EVENT record(driver, n, faults, rank, last) AS
  PATTERN record p[n = 20 AND faults = 0] {PRECEDES, OVERLAPS, STARTS, DURING} step s
  WHERE n = s.delivered AND faults = s.faulty AND rank = p.rank + 1 AND last = 1
  PARTITION BY driver
  CONSUME RECENT
  PER INTERVAL;

EVENT record(driver, n, faults, rank, last) AS
  PATTERN record p[n = 20 AND faults > 0 AND faults < 5] {PRECEDES, OVERLAPS, STARTS, DURING} step s
  WHERE n = s.delivered AND faults = s.faulty AND rank = p.rank AND last = 0
  PARTITION BY driver
  CONSUME RECENT
  PER INTERVAL;

EVENT record(driver, n, faults, rank, last) AS
  PATTERN record p[n = 20 AND faults >= 5] {PRECEDES, OVERLAPS, STARTS, DURING} step s
  WHERE n = s.delivered AND faults = s.faulty AND rank = p.rank - 1 AND last = -1
  PARTITION BY driver
  CONSUME RECENT
  PER INTERVAL;

EVENT ranking_increase(driver, r.rank + 1 AS rank) AS
  PATTERN record r[n = 20 AND faults = 0]
  PARTITION BY driver;

EVENT ranking_decrease(driver, r.rank - 1 AS rank) AS
  PATTERN record r[n = 20 AND faults >= 5]
  PARTITION BY driver;

EVENT improvement_note(driver) AS
  PATTERN record r[n = 20 AND faults = 0 AND last = -1]
  PARTITION BY driver;

-- Weeks of a driver.

EVENT shift(driver) AS
  PATTERN SEQ STRICT(ShiftStart a, Delivery d*, ShiftEnd z)
  PARTITION BY driver
  RETURN COUNT(d) AS n;

EVENT weekly(driver) AS
  PATTERN Week w
  WHERE drivers(driver, _);

EVENT week(driver) AS
  PATTERN SEQ NEXT(weekly a, weekly b)
  PARTITION BY driver;

EVENT weak_driver(driver) AS
  PATTERN SEQ NEXT(weekly a, NOT shift s[n >= 5], weekly b)
  PARTITION BY driver;

EVENT idle_driver(driver) AS
  PATTERN shift s[n = 0] DURING week w
  PARTITION BY driver
  PER INTERVAL;

EVENT falling_off(driver) AS
  PATTERN SEQ NEXT(shift x, shift y)
  HAVING y.n < x.n
  PARTITION BY driver;

EVENT improving_driver(driver) AS
  PATTERN SEQ NEXT(weekly a, NOT falling_off f, weekly b)
  PARTITION BY driver;
