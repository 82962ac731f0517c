"""Forecasts: rows become symbols, symbols move a chain, and every state of the chain has its forecast ready."""
