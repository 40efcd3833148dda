"""VIFIDEL: the metric, and the plans that explain its scores."""
