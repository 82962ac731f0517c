STREAM Price(id BIGINT, stock STRING, currency STRING, value DOUBLE, t BIGINT) ID id KEY stock TIME t;
STREAM Rumor(id BIGINT, stock STRING, t BIGINT) ID id KEY stock TIME t;

-- Translated prices are prices too.
EVENT Price(p.stock AS stock, 'EUR' AS currency, 0.5 * p.value AS value) AS
  PATTERN Price p[currency = 'USD']
  PER INTERVAL;

-- Patterns find rows and derived events.
EVENT rise(a.stock AS stock, a.value AS low, b.value AS high) AS
  PATTERN SEQ(Price a[currency = 'EUR'], Price b[currency = 'EUR'])
  WHERE b.stock = a.stock AND b.value > a.value
  WITHIN 4 TICKS
  PER INTERVAL;

EVENT unconfirmed(r.stock AS stock) AS
  PATTERN SEQ(Rumor r, NOT Price[stock = r.stock AND currency = 'EUR'], AFTER 2 TICKS);
