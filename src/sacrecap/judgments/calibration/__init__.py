"""Calibration: what people would say of all captions, from few ratings and many scores."""
