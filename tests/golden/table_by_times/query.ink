-- The worker on duty when a delivery begins and when it ends: the pattern as a whole has these times.
STREAM Truck(id BIGINT, gate STRING, t BIGINT) ID id TIME t;
TABLE shifts(begin INT, worker STRING) FROM 'shifts.csv';
RULE on_duty(at, worker) IF shifts(begin, worker) AND begin <= at AND at < begin + 4;

EVENT begun(worker) AS
  PATTERN (SEQ(Truck a[gate = 'in'], Truck b[gate = 'out'])) v
  WHERE shifts(START(v), worker);

EVENT throughout(worker) AS
  PATTERN SEQ NEXT((SEQ NEXT(Truck a[gate = 'in'], Truck b[gate = 'out'])) v, Truck c)
  WHERE on_duty(START(v), worker) AND on_duty(END(v), worker);

EVENT without_bob AS
  PATTERN (SEQ(Truck a[gate = 'in'], Truck b[gate = 'out'])) v
  WHERE NOT on_duty(END(v), 'bob');
