EVENT e AS PATTERN V v[engine 'parked'];
