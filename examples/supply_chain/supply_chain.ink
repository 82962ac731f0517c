-- Companies that supply each other: shares that rise along the chain, goods on their way through it, and planes that
-- fly into turbulence.
-- Data: inkling generate supply_chain

STREAM Quote(id BIGINT, company STRING, t TIMESTAMP, change DOUBLE) ID id KEY company TIME t;
STREAM Shipment(id STRING, item STRING, t TIMESTAMP, company STRING) ID id KEY item TIME t;
STREAM Turbulence(id STRING, place BIGINT, t TIMESTAMP) ID id TIME t;
STREAM Plane(id STRING, place BIGINT, t TIMESTAMP) ID id TIME t;

TABLE supplies(supplier STRING, customer STRING) FROM 'supplies.csv';
TABLE linked(place BIGINT, next BIGINT) FROM 'linked.csv';

RULE in_supply_chain(supplier, customer) IF supplies(supplier, customer);
RULE in_supply_chain(supplier, customer) IF supplies(supplier, between) AND in_supply_chain(between, customer);

RULE jet_link(place, next) IF linked(place, next);
RULE jet_link(place, last) IF linked(place, next) AND jet_link(next, last);

-- A share rises, and soon after it the share of a company that is supplied, directly or through other companies.
EVENT rise(q.company AS company) AS
  PATTERN Quote q[change > 0];

EVENT trend(a.company AS supplier, b.company AS customer) AS
  PATTERN SEQ(rise a, rise b)
  WHERE in_supply_chain(a.company, b.company)
  WITHIN 2 HOURS
  PER INTERVAL;

-- An item has come from one company to another if it was shipped from customer to customer. Only the last hop is
-- looked up; earlier hops were looked up when the item made them.
EVENT delivery(s.item AS item, s.company AS origin, s.company AS company) AS
  PATTERN Shipment s
  PER INTERVAL;

EVENT delivery(d.item AS item, d.origin AS origin, s.company AS company) AS
  PATTERN SEQ(delivery d, Shipment s[item = d.item])
  WHERE supplies(d.company, s.company)
  WITHIN 1 DAY
  PER INTERVAL;

-- A plane at a place from which the jet stream leads to turbulence, before or after the turbulence is reported.
EVENT jet_stream_warning(c.place AS turbulence, p.place AS plane) AS
  PATTERN Turbulence c AND Plane p
  WHERE jet_link(p.place, c.place)
  WITHIN 5 HOURS
  PER INTERVAL;
