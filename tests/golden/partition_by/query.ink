STREAM Step(id BIGINT, person STRING, kind STRING, t BIGINT) ID id KEY person TIME t;

EVENT back_and_forth(person) AS
  PATTERN SEQ NEXT(Step a[kind = 'in'], Step b[kind = 'out'], Step c[kind = 'in'])
  PARTITION BY person;
