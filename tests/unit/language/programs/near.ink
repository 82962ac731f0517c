RULE area_of('harbor', lat, lon) IF lat > 50.5 AND lat < 51 AND lon > -1.5;
EVENT near(z) AS PATTERN Fix f WHERE area_of(z, f.lat, f.lon);
