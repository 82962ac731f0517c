EVENT join() AS PATTERN SEQ NEXT(R x, S y, T z[k = x.k]) PER END;
