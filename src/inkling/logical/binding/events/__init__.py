"""Declarations of events: clauses, outputs, forecasts, time-outs, and several declarations of one event."""
