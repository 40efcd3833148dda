"""`python -m sacrecap`, for launchers that start modules, such as torchrun."""

from sacrecap.cli.start import script

script()
