"""SPICE: the metric, scene graphs, and the comparison of graphs that explains its scores."""
