"""Forecasts of complex events: when a pattern will be detected, and how good such forecasts are.

The method is that of Wayeb: Ntoulias, Alevizos, Artikis, Akasiadis and Koumparos, *Online fleet monitoring with
scalable event recognition and forecasting*, and Alevizos, Artikis and Paliouras, *Complex event forecasting with
prediction suffix trees*, VLDB Journal 2022. Docstrings cite them as Ntoulias et al. and Alevizos et al.
"""
