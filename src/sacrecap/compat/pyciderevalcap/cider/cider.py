"""CIDEr by document frequencies that have a name."""

from sacrecap.compat.ciderscorer import CosineScorer, WithFrequencies


class Cider(WithFrequencies):
    """CIDEr without stems.

    `df`: `corpus`, to count document frequencies in the references of a call, or the name of the file that has them.
    """

    scorer = CosineScorer

    def __init__(self, n: int = 4, df: str = "corpus") -> None:
        super().__init__(n, df)

    def method(self) -> str:
        """The name that is printed."""
        return "CIDEr"
