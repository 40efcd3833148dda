"""ROUGE, by the name it has in that package."""

from sacrecap.compat.pycocoevalcap.rouge import rouge


class Rouge(rouge.Rouge):
    """ROUGE."""

    def __str__(self) -> str:
        return "ROUGE"
