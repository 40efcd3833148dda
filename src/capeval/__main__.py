"""`python -m capeval`, for launchers that start modules, such as torchrun."""

from capeval.cli.start import script

script()
