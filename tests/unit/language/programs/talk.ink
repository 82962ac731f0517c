EVENT talk() AS
  PATTERN SEQ NEXT(Carries x, Carries y[person=x.person AND object=x.object]+, At u[person=x.person])
  PER END;
