"""Declarations of events: clauses, result columns, forecasts, time-outs, recursion and unions of declarations."""
