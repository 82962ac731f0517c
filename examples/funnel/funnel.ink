-- A shop on the web: pages seen, carts filled, payments made, stamped by devices whose clocks are not exact.
-- Data: inkling generate funnel; a tick is a second.

STREAM View(id STRING, visitor STRING, visit STRING, device STRING, t BIGINT)
  ID id KEY visitor
  TIME t CLOCK device ERROR 1 SECONDS, 15 SECONDS FOR 'laptop', 45 SECONDS FOR 'phone', 90 SECONDS FOR 'tablet'
  TICK 1 SECONDS;

STREAM Cart(id STRING, visitor STRING, visit STRING, device STRING, t BIGINT)
  ID id KEY visitor
  TIME t CLOCK device ERROR 1 SECONDS, 15 SECONDS FOR 'laptop', 45 SECONDS FOR 'phone', 90 SECONDS FOR 'tablet'
  TICK 1 SECONDS;

-- Every row of a payment states by how many seconds its time may be off.
STREAM Pay(id STRING, visitor STRING, visit STRING, device STRING, t BIGINT, skew BIGINT)
  ID id KEY visitor
  TIME t ± skew
  TICK 1 SECONDS;

-- Through the funnel in order, from the page to the payment within five minutes.
EVENT ordered(visitor, v.visit AS visit) AS
  PATTERN SEQ(View v, Cart c, Pay p)
  WITHIN 5 MINUTES
  PARTITION BY visitor;

-- Something is put into the cart, and nothing is paid in the following four minutes.
EVENT abandoned(visitor, c.visit AS visit) AS
  PATTERN SEQ(Cart c, NOT Pay p)
  WITHIN 4 MINUTES
  PARTITION BY visitor;
