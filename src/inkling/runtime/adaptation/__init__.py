"""Forecasts that change while they run: their settings, their models, and how well these still fit."""
