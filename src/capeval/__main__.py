"""`python -m capeval`, for what starts modules, as torchrun does."""

from capeval.cli.start import script

script()
