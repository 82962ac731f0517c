-- The events of funnel.ink over streams whose times are assumed to be exact; a tick is a second.
-- Data: inkling generate funnel; the folder `true` holds true times, `naive` the times of the clocks.

STREAM View(id STRING, visitor STRING, visit STRING, t BIGINT) ID id KEY visitor TIME t TICK 1 SECONDS;
STREAM Cart(id STRING, visitor STRING, visit STRING, t BIGINT) ID id KEY visitor TIME t TICK 1 SECONDS;
STREAM Pay(id STRING, visitor STRING, visit STRING, t BIGINT) ID id KEY visitor TIME t TICK 1 SECONDS;

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
