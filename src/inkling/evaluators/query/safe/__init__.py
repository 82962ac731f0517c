"""Safe queries: plans of operators on intervals of time, one for each stage of the query."""
