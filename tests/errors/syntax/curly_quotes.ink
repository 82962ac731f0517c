EVENT parked AS PATTERN V v[engine = ‘parked’];
