"""Commands about models: of forecasts, and of movement and sensors."""
