"""SPICE, by the name it has in that package."""

from sacrecap.compat.pycocoevalcap.spice import spice


class Spice(spice.Spice):
    """SPICE."""

    def __str__(self) -> str:
        return "SPICE"
