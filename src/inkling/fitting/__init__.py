"""Learning: a program whose forecasts are turned around, and the models that its counts make."""
