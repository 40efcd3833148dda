"""What SPICE's original program says of the captions of `tests/laws/test_parameters.py`: laws need no program.

`tests/resources/test_stanford_program.py` asks the program itself where it is set up.
"""

from __future__ import annotations

from collections.abc import Sequence

Side = tuple[str, ...]
Tuples = tuple[tuple[str, ...], ...]

ANSWERS: dict[Side, Tuples] = {
    ("a happy dog runs and runs along the beach",): (
        ("beach",),
        ("dog",),
        ("dog", "happy"),
        ("dog", "run"),
        ("dog", "run along", "beach"),
    ),
    ("a dog is running along the beach happily", "the dog runs"): (
        ("beach",),
        ("dog",),
        ("dog", "run"),
        ("dog", "run along", "beach"),
    ),
    ("the dogs running happily in the city",): (("city",), ("dog",)),
    ("the dog ran in cities", "a city of happy dogs running in the city"): (
        ("city",),
        ("city", "of", "dog"),
        ("dog",),
        ("dog", "happy"),
        ("dog", "run in", "city"),
    ),
    ("two cats",): (("cats",),),
    ("two birds and a cat on the beach", "cats"): (
        ("beach",),
        ("bird",),
        ("bird", "on", "beach"),
        ("bird", "two"),
        ("cat",),
    ),
    ("the dog the dogs the runs of a city and a dog",): (
        ("city",),
        ("dog",),
        ("run",),
        ("run", "of", "city"),
        ("run", "of", "dog"),
    ),
    ("the dog runs in the city", "dogs run and a dog runs"): (
        ("city",),
        ("dog",),
        ("dog", "run"),
        ("dog", "run in", "city"),
        ("run",),
        ("run", "dog"),
        ("run", "run"),
    ),
    ("birds",): (("bird",),),
    ("a cat", "the cats"): (("cat",),),
    ("a dog",): (("dog",),),
    ("the cat", "a dog"): (("cat",), ("dog",)),
}


class RecordedProgram:
    """Stands for `StanfordSpice` and knows these sides alone."""

    def tuples(self, sides: Sequence[Side], **_: object) -> list[Tuples]:
        return [ANSWERS[side] for side in sides]
