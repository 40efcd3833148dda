"""METEOR, by the name it has in that package."""

from sacrecap.compat.pycocoevalcap.meteor import meteor


class Meteor(meteor.Meteor):
    """METEOR."""

    def __str__(self) -> str:
        return "METEOR"
