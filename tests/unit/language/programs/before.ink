EVENT before(x.k, y.k) AS PATTERN ALL Bus x STARTS_BEFORE ALL Bus y;
