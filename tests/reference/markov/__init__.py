"""Forecasts in fractions, by their definition; and the way of the public Wayeb engine."""
