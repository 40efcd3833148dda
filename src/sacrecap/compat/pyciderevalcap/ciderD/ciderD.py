"""CIDEr-D by document frequencies that have a name."""

from sacrecap.compat.ciderscorer import IdfScorer, WithFrequencies


class CiderD(WithFrequencies):
    """CIDEr-D. As in the original, `sigma` has no effect: the width of the length penalty is 6.

    `df`: `corpus`, to count document frequencies in the references of a call, or the name of the file that has them:
    `coco-train-idxs` is `data/coco-train-idxs.p`, a pickle, which is not executed.
    """

    scorer = IdfScorer

    def __init__(self, n: int = 4, sigma: float = 6.0, df: str = "corpus") -> None:
        super().__init__(n, df)
        self._sigma = sigma

    def method(self) -> str:
        """The name that is printed."""
        return "CIDEr-D"
