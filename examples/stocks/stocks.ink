-- Prices of shares, one a day for each symbol.
-- Data: inkling generate stocks

STREAM Tick(id BIGINT, symbol STRING, t TIMESTAMP, exchange STRING, usd DOUBLE, volume BIGINT) ID id KEY symbol TIME t;
STREAM Acquisition(id STRING, symbol STRING, t TIMESTAMP, buyer STRING) ID id KEY symbol TIME t;

TABLE clients(client STRING, symbol STRING, money DOUBLE) FROM 'clients.csv';
TABLE rates(currency STRING, per_dollar DOUBLE) FROM 'rates.csv';

-- Network: project and translate, and split into one price for each currency.
EVENT price(t.symbol AS symbol, currency, t.usd * per_dollar AS amount) AS
  PATTERN Tick t
  WHERE rates(currency, per_dollar);

-- One offer for every client who follows the symbol.
EVENT offer(client, t.symbol AS symbol, t.usd AS usd, money) AS
  PATTERN Tick t
  WHERE clients(client, t.symbol, money);

EVENT moving_average(symbol, usd) AS
  PATTERN WINDOW Tick w LAST 10 DAYS
  WHERE usd = AVG(w.usd)
  PARTITION BY symbol;

-- The running maximum of up to five days, by recursion: a price alone is its own maximum, and the next maximum is the
-- larger of the maximum so far and the next price.
EVENT high(symbol, t.usd AS usd) AS
  PATTERN Tick t
  PARTITION BY symbol
  PER INTERVAL;

EVENT high(symbol, usd) AS
  PATTERN SEQ(high h, NOT Tick, Tick t)
  WHERE usd = greatest(h.usd, t.usd)
  WITHIN 4 DAYS
  PARTITION BY symbol
  PER INTERVAL;

-- A rise of more than 50 % within 15 days, without a takeover that explains it.
EVENT jump(symbol, b.usd AS usd) AS
  PATTERN SEQ(Tick a, NOT Acquisition, Tick b[usd > 1.5 * a.usd])
  WITHIN 15 DAYS
  PARTITION BY symbol
  PER END;

-- The shape of a check mark: an uninterrupted fall, then an uninterrupted rise, until the price is above that of the
-- peak before the fall.
EVENT tick_shape(symbol) AS
  PATTERN SEQ STRICT(Tick peak,
                     Tick f[usd < peak.usd AND usd < LAST(f).usd]+,
                     Tick r[usd > LAST(f).usd AND usd > LAST(r).usd AND usd <= peak.usd]*,
                     Tick above[usd > peak.usd])
  WITHIN 30 DAYS
  PARTITION BY symbol
  PER INTERVAL;

-- The same, where the fall also has to go below the price before the rise to the peak.
EVENT tick_shape_from_before(symbol) AS
  PATTERN SEQ STRICT(Tick before,
                     Tick peak[usd > before.usd],
                     Tick f[usd < peak.usd AND usd < LAST(f).usd]+,
                     Tick r[usd > LAST(f).usd AND usd > LAST(r).usd AND usd < before.usd]*,
                     Tick above[usd > before.usd AND LAST(f).usd < before.usd])
  WITHIN 30 DAYS
  PARTITION BY symbol
  PER INTERVAL;

-- Rises from one price to the next, and interval relations between the rises of two symbols.
EVENT rise(symbol) AS
  PATTERN SEQ STRICT(Tick a, Tick b[usd > a.usd])
  WITHIN 7 DAYS
  PARTITION BY symbol;

EVENT first_rises AS
  PATTERN rise r[symbol = 'S000'];

EVENT second_rises AS
  PATTERN rise r[symbol = 'S001'];

EVENT either_rises AS
  PATTERN first_rises OR second_rises;

EVENT both_rise AS
  PATTERN first_rises AND second_rises
  WITHIN 20 DAYS;

EVENT rise_together AS
  PATTERN first_rises PAR second_rises
  WITHIN 20 DAYS;

EVENT rises_alone AS
  PATTERN NOT second_rises BETWEEN first_rises AND first_rises
  WITHIN 20 DAYS;
