"""Safe queries: the operators of safe plans, which work on intervals of time (Lahar, section 3.3)."""
