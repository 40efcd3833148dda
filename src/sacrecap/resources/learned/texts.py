"""Texts as a network takes them: tokens, cut at its length, in batches of equal length, so that nothing is padded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from sacrecap.resources.learned.kept_features import WORTH_KEEPING, digest, through_cache
from sacrecap.resources.needs import WorkShare

if TYPE_CHECKING:
    from sacrecap.resources.learned.checkpoint import Checkpoint, Network
    from sacrecap.resources.learned.kept_features import Vector
    from sacrecap.resources.needs import Needs

T = TypeVar("T")

MOST_REMEMBERED = 100_000
"""Most results of a kind that needs remember between two batches: 200 MB of vectors with 512 numbers each."""


class Tokens(NamedTuple):
    """The tokens of a text."""

    ids: tuple[int, ...]
    """The tokens that the network reads, including special ones."""
    cut: bool
    """Whether there were more tokens than the network reads."""


class Tokenizer:
    """A tokenizer of transformers.

    Args:
        tokenizer: transformers' own.
        limit: the most tokens that the network reads, including special ones.
        padded: whether the network needs every text padded to its limit.
        blank_first: whether to put a blank before the first word, as before all others, if the tokenizer distinguishes
            (RoBERTa's and GPT-2's).
    """

    def __init__(self, tokenizer: Any, limit: int, *, padded: bool = False, blank_first: bool = False) -> None:
        self._tokenizer = tokenizer
        self.limit = limit
        self._padded = padded
        self._before = " " if blank_first and tokenizer.tokenize(" a") != tokenizer.tokenize("a") else ""

    def __call__(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text."""
        if not texts:
            return []
        texts = [self._before + text.strip() if text.strip() else "" for text in texts]
        found = [tuple(ids) for ids in self._tokenizer(texts, verbose=False)["input_ids"]]
        cut = [len(ids) > self.limit for ids in found]
        long = [number for number, is_cut in enumerate(cut) if is_cut]
        if long:
            shorter = self._tokenizer([texts[n] for n in long], truncation=True, max_length=self.limit)["input_ids"]
            for number, ids in zip(long, shorter, strict=True):
                found[number] = tuple(ids)
        if self._padded:
            options = {"padding": "max_length", "truncation": True, "max_length": self.limit}
            found = [tuple(ids) for ids in self._tokenizer(texts, **options)["input_ids"]]
        return [Tokens(ids, is_cut) for ids, is_cut in zip(found, cut, strict=True)]


def read_limit(model: Any, tokenizer: Any, config: Any) -> int:
    """The most tokens for which the model has positions, and which its tokenizer allows."""
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            # RoBERTa counts positions from the one after the padding's.
            positions = module.num_embeddings - module.padding_idx - 1
    own = tokenizer.model_max_length
    return int(min(positions or own, own))


def by_length(network: Network, tokens: Sequence[Tokens], run: Callable[[Any], Any], progress: Any = None) -> list[Any]:
    """The result of `run` for each text, in their order.

    Args:
        network: has the device, and the size of batches.
        tokens: of the texts.
        run: takes an array of token ids, of shape (texts, tokens), on the network's device; returns one result per
            text.
        progress: called with the number of finished texts after each length.
    """
    import torch

    groups: dict[int, list[int]] = {}
    for number, one in enumerate(tokens):
        groups.setdefault(len(one.ids), []).append(number)
    results: list[Any] = [None] * len(tokens)
    done = 0
    for length in sorted(groups):
        numbers = groups[length]
        ids = torch.tensor([tokens[number].ids for number in numbers])

        def of(chosen: list[int], ids: torch.Tensor = ids) -> Any:
            with torch.inference_mode():
                return run(ids[chosen].to(network.device))

        for number, result in zip(numbers, network.in_batches(len(numbers), of), strict=True):
            results[number] = result
        done += len(numbers)
        if progress is not None:
            progress(done)
    return results


def told(needs: Needs, what: str, all_: int) -> Callable[[int], None]:
    """Reports progress: how many of all are finished."""
    watch = needs.progress

    def tell(done: int) -> None:
        if watch is not None and all_:
            watch(WorkShare(done / all_, what))

    return tell


def missing_of(remembered: dict[T, Any], wanted: Iterable[T]) -> list[T]:
    """What is wanted and not remembered, each once; where more than `MOST_REMEMBERED` are, all but what is wanted goes.

    A scorer of a pipeline gets other captions and images with every batch, and may live for days.
    """
    wanted = dict.fromkeys(wanted)
    missing = [one for one in wanted if one not in remembered]
    if missing and len(remembered) > MOST_REMEMBERED:
        for one in [one for one in remembered if one not in wanted]:
            del remembered[one]
    return missing


class ReadsTexts(Protocol):
    """A network that makes a vector of each text."""

    checkpoint: Checkpoint
    device: Any

    @property
    def identity(self) -> str: ...
    def vectors(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]: ...


class CutsTexts(Protocol):
    """What cuts texts into the tokens of a network."""

    limit: int

    def __call__(self, texts: Sequence[str]) -> list[Tokens]: ...


class TextVectors:
    """Unit vectors of texts; each text is read once during the life of `needs`, and many at once are cached on disk.

    Args:
        network: computes them.
        tokenizer: cuts the texts into its tokens.
        needs: the call's, which remember what is finished.
    """

    def __init__(self, network: ReadsTexts, tokenizer: CutsTexts, needs: Needs) -> None:
        self._network = network
        self._tokenizer = tokenizer
        self._needs = needs
        self._scope = f"text {network.identity} {network.checkpoint.precision} {tokenizer.limit}"
        key = (self._scope, str(network.device))
        self._vectors: dict[str, Vector] = needs.once(key, dict)
        self._cut: set[str] = needs.once(("cut", *key), set)

    def of(self, texts: Iterable[str]) -> Mapping[str, Vector]:
        """The vectors of these texts, and of those before."""
        missing = missing_of(self._vectors, texts)
        tokens = dict(zip(missing, self._tokenizer(missing), strict=True))
        self._cut.update(text for text, own in tokens.items() if own.cut)

        def made(texts: list[str]) -> list[Vector]:
            return self._network.vectors([tokens[text] for text in texts], self._needs)

        digests = {text: digest(text) for text in missing}
        for vectors in through_cache(self._scope, digests, made, at_once=WORTH_KEEPING):
            self._vectors.update(vectors)
        return self._vectors

    def is_cut(self, text: str) -> bool:
        """Whether a text that was read has more tokens than the network reads."""
        return text in self._cut
