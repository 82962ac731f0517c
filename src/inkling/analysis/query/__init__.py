"""Analysis of queries over probable streams (Lahar): normal form, class, safe plan, and the engine that answers."""
