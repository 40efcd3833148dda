"""The original program, asked for scene graphs; handles its failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sacrecap.data.places import in_cache
from sacrecap.errors import DataError, MissingDependencyError, some
from sacrecap.resources.stanford import jars, program_settings
from sacrecap.resources.stanford.batch import BatchError, Runner
from sacrecap.resources.stanford.graph_cache import GraphCache, Side, Tuples
from sacrecap.resources.stanford.java import Java, find_java

MEMORY: Final = "4G"
"""Default memory: the models take 0.5 GB of it, and a sentence of 200 words 1 GB."""

_START = 900.0
"""Seconds that the program may take to load its models: 10 on an idle machine, over 300 were seen on a busy one."""
_SLOWNESS = 20.0
"""How many times slower than measured a machine may be before we give up."""
_BATCH = 60.0
"""Seconds of work in a batch. A start of the program costs 10, and a crash costs the work of the batch."""
_EXAMPLE: Side = ("a dog runs along the beach with two red balls",)
"""A caption that a working program can parse."""
EXAMPLE_GRAPH: Final[Tuples] = (
    ("ball",),
    ("ball", "red"),
    ("ball", "two"),
    ("beach",),
    ("beach", "with", "ball"),
    ("dog",),
    ("dog", "run along", "beach"),
)
"""Its graph."""

Progress = Callable[[int, int], object]
"""Called with the numbers of finished and of all sides."""


def seconds_of(captions: Sequence[str]) -> float:
    """Time of parsing on one core, in seconds, as measured on captions of 5 to 200 words: cubic in their length."""
    return sum(0.05 + 8e-6 * len(caption.split()) ** 3 for caption in captions)


class StanfordSpice:
    """SPICE's original program, run as a subprocess.

    Its answers depend only on the captions and the version of the program: not on the batch of a caption, the number of
    threads, or the machine.

    Args:
        java: the runtime.
        folder: where the jars are.
        cache: the cache of scene graphs; None for no cache.
        memory: the most memory for Java's objects, in Java's notation: `4G`, `800M`.
        threads: number of threads of the program.
    """

    def __init__(
        self, java: Java, folder: str, *, cache: GraphCache | None = None, memory: str = MEMORY, threads: int = 1
    ) -> None:
        self.runner = Runner(java, folder, program_settings.check_memory(memory), max(1, threads))
        self.cache = cache
        self._works = False

    @classmethod
    def find(cls, *, memory: str | None = None, threads: int = 1) -> StanfordSpice:
        """The program that `sacrecap spice setup` installed, with this user's cache.

        Raises:
            MissingDependencyError: it was not set up, or only in part, or there is no Java.
        """
        folder = jars.folder()
        absent = jars.missing(folder)
        if absent:
            what = "is not set up" if len(absent) == len(jars.PARTS) else f"lacks {absent[0].name} in {folder}"
            raise MissingDependencyError(
                f"SPICE's original program {what}; set it up, once, with: sacrecap spice setup "
                "(spice(parser=native) needs no program)"
            )
        chosen = program_settings.load(folder)
        return cls(
            find_java(chosen.java),
            folder,
            cache=GraphCache(in_cache("spice-stanford.sqlite"), jars.VERSION),
            memory=memory or chosen.memory or MEMORY,
            threads=threads,
        )

    def tuples(
        self, sides: Sequence[Sequence[str]], *, names: Sequence[str] | None = None, progress: Progress | None = None
    ) -> list[Tuples]:
        """The scene graph of each side, from the cache if it is there.

        Args:
            sides: for each, its captions, after the COCO tokenizer: a candidate alone, or all references of an image.
                The program merges synonyms over all captions of a side, in their order, so the graph of several
                captions cannot be computed from the graphs of each.
            names: the image of each side, for messages.
            progress: called with the numbers of finished and of all sides that are not in the cache.

        Returns:
            For each side, its distinct tuples in the order of their text: `(object,)`, `(object, attribute)`,
            `(object, relation, object)`. Merged names are in one text, separated by `/`.

        Raises:
            DataError: the program fails on some sides, whose images are named; the others are in the cache by then.
        """
        keys = [tuple(side) for side in sides]
        wanted = list(dict.fromkeys(keys))
        known = {} if self.cache is None else self.cache.find(wanted)
        missing = [side for side in wanted if side not in known]
        done = 0

        def keep(batch: Sequence[int], graphs: Sequence[Tuples]) -> None:
            nonlocal done
            new = {missing[number]: graph for number, graph in zip(batch, graphs, strict=True)}
            known.update(new)
            if self.cache is not None:
                self.cache.keep(new)
            done += len(new)
            if progress is not None:
                progress(done, len(missing))

        failed = self._ask(missing, keep)
        if failed:
            broken = {missing[n]: error for n, error in failed.items()}
            raise _failure([(_name(names, n), side, broken[side]) for n, side in enumerate(keys) if side in broken])
        return [known[side] for side in keys]

    def try_out(self) -> Tuples:
        """The graph of an example. Raises `DataError` if the program does not work."""
        try:
            graph = self.runner.run([_EXAMPLE], _START)[0]
        except BatchError as error:
            raise DataError(
                f"SPICE's program does not work with {self.runner.java.path} (Java {self.runner.java.version}) and "
                f"{self.runner.memory} of memory: it {error}; try sacrecap spice setup, with another --java or --memory"
            ) from None
        self._works = True
        return graph

    def _ask(
        self, sides: Sequence[Side], keep: Callable[[Sequence[int], Sequence[Tuples]], object]
    ) -> dict[int, BatchError]:
        """Asks for all sides; passes the graphs of each batch to `keep`, and returns the sides without an answer.

        A batch that fails is halved until the sides are found that the program fails on. Each of these is tried twice,
        because the first run may have failed for another reason.
        """
        failed: dict[int, BatchError] = {}
        waiting = list(_batches(sides))[::-1]
        tried: set[int] = set()
        while waiting:
            batch = waiting.pop()
            chosen = [sides[number] for number in batch]
            try:
                graphs = self.runner.run(chosen, _START + _SLOWNESS * sum(map(seconds_of, chosen)))
            except BatchError as error:
                if not self._works:
                    self.try_out()
                if len(batch) > 1:
                    middle = len(batch) // 2
                    waiting += [batch[middle:], batch[:middle]]
                elif batch[0] in tried:
                    failed[batch[0]] = error
                else:
                    tried.add(batch[0])
                    waiting.append(batch)
            else:
                self._works = True
                keep(batch, graphs)
        return failed


def _batches(sides: Sequence[Side]) -> Iterator[list[int]]:
    """The sides' indices in batches of `_BATCH` seconds each; long ones, which may fail, come last."""
    costs = [seconds_of(side) for side in sides]
    batch: list[int] = []
    used = 0.0
    for number in sorted(range(len(sides)), key=lambda n: max(map(len, sides[n]), default=0)):
        if batch and used + costs[number] > _BATCH:
            yield batch
            batch, used = [], 0.0
        batch.append(number)
        used += costs[number]
    if batch:
        yield batch


def _name(names: Sequence[str] | None, number: int) -> str:
    return names[number] if names is not None else f"number {number}"


def _failure(failed: Sequence[tuple[str, Side, BatchError]]) -> DataError:
    """The error for images that the program fails on, each with its name, captions, and the cause."""
    images = list(dict.fromkeys(name for name, _, _ in failed))
    name, side, error = failed[0]
    words = max(len(caption.split()) for caption in side)
    return DataError(
        f"SPICE's program fails on {some(images)}. On {name}, whose longest caption has {words} words, it {error}. "
        "Shorten these captions, leave the images out, give the program more memory (sacrecap spice setup --memory "
        "8G), or use spice(parser=native)"
    )
