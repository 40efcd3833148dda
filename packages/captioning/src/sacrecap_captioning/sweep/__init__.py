"""Many runs over a grid of reward weights, and the plane of accuracy and diversity that they span."""
