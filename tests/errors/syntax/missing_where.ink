EVENT near AS PATTERN Fix f area_of(z, f.lat, f.lon);
