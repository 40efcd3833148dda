"""What to do about images that do not fit, for messages: the same words for every way in which captions are joined."""

from __future__ import annotations

from collections.abc import Iterable

from sacrecap.data.image_ids import meeting
from sacrecap.errors import option, spelled


def for_other_ids(references: Iterable[str], candidates: Iterable[str]) -> str:
    """About candidates of which not one is of an image of the references."""
    how = meeting(references, candidates)
    if how is None:
        return "are these files of the same data set?"
    return f"they match with {option('image_ids', how, of='sacrecap.data.read_references and read_candidates')}"


def for_extra(remedy: str = "remove such candidates, or score against references that have these images") -> str:
    """About candidates of images without references, or with none that says something."""
    return _or_by(remedy, "--on-extra skip (leave them out)")


def for_repeated() -> str:
    """About images with several candidates."""
    remedy = "keep one per image (several captions of one image are a caption set, and are not scored together)"
    return _or_by(remedy, "--on-duplicate first or last")


def for_missing() -> str:
    """About images without candidate."""
    zero = spelled(python='"zero"', command="zero")
    return (
        f"add them, or choose {option('on_missing', 'skip')} (leave such images out) or {zero} (count them as empty "
        "captions)"
    )


def _or_by(remedy: str, choice: str) -> str:
    return spelled(python=remedy, command=f"{remedy}, or choose {choice}")
