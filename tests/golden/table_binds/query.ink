STREAM Fix(id STRING, spot STRING, t BIGINT) ID id TIME t;
TABLE area_of(area STRING, spot STRING) FROM 'area_of.csv';

-- A spot in two areas gives two results.
EVENT near(area) AS
  PATTERN Fix f
  WHERE area_of(area, f.spot);

-- Both in one area.
EVENT stayed(area) AS
  PATTERN SEQ(Fix f, Fix g)
  WHERE area_of(area, f.spot) AND area_of(area, g.spot)
  WITHIN 3 TICKS;
