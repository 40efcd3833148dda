"""Models that read texts, by torch or by onnxruntime, and give a vector for each token or for the text.

Texts are tokens, cut at the network's length, in batches of equal length, so that nothing is padded.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sacrecap.data.cache import WORTH_KEEPING, digest, through_cache
from sacrecap.errors import DataError
from sacrecap.resources.learned.checkpoint import Checkpoint, Network, described, parts
from sacrecap.resources.needs import WorkShare

if TYPE_CHECKING:
    from sacrecap.data.cache import Vector
    from sacrecap.resources.learned.clip import Clip
    from sacrecap.resources.needs import Needs

T = TypeVar("T")

KIND = "model of texts"
_USUAL_LIMIT = 512
"""The most tokens that a model reads that does not say how many."""
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
        ids_of_texts = self._tokenizer(texts, verbose=False)["input_ids"]
        cut = [len(ids) > self.limit for ids in ids_of_texts]
        if self._padded or any(cut):
            padding = {"padding": "max_length"} if self._padded else {}
            ids_of_texts = self._tokenizer(texts, truncation=True, max_length=self.limit, **padding)["input_ids"]
        return [Tokens(tuple(ids), is_cut) for ids, is_cut in zip(ids_of_texts, cut, strict=True)]


def read_limit(model: Any, tokenizer: Any, config: Any) -> int:
    """The most tokens for which the model has positions, and which its tokenizer allows."""
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            # RoBERTa counts positions from the one after the padding's.
            positions = module.num_embeddings - module.padding_idx - 1
    tokenizer_limit = tokenizer.model_max_length
    return int(min(positions or tokenizer_limit, tokenizer_limit))


def by_length(network: Network, tokens: Sequence[Tokens], run: Callable[[Any], Any], needs: Needs) -> list[Any]:
    """The result of `run` for each text, in their order; `needs` hear the progress after each length.

    `run` takes token ids, of shape (texts, tokens), on the network's device, and returns a result per text.
    """
    import torch

    def of(chosen: list[int]) -> Any:
        with torch.inference_mode():
            return run(torch.tensor([tokens[number].ids for number in chosen]).to(network.device))

    lengths = [len(text_tokens.ids) for text_tokens in tokens]
    return network.in_batches(lengths, of, share_teller(needs, "reading captions", len(tokens)))


def share_teller(needs: Needs, what: str, all_: int) -> Callable[[int], object]:
    """Reports progress: how many of all are finished."""
    watch = needs.progress
    return lambda done: watch(WorkShare(done / all_, what)) if watch is not None and all_ else None


def missing_of(remembered: dict[T, Any], keys: Iterable[T]) -> list[T]:
    """What is wanted and not remembered, each once; where more than `MOST_REMEMBERED` are, all but what is wanted goes.

    A scorer of a pipeline gets other captions and images with every batch, and may live for days.
    """
    keys = dict.fromkeys(keys)
    missing = [key for key in keys if key not in remembered]
    if missing and len(remembered) > MOST_REMEMBERED:
        for key in [key for key in remembered if key not in keys]:
            del remembered[key]
    return missing


class TextVectors:
    """Unit vectors of texts; each text is read once during the life of `needs`, and many at once are cached on disk."""

    def __init__(self, network: TextEncoder | OnnxTexts | Clip, tokenizer: Tokenizer | OnnxTexts, needs: Needs) -> None:
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
        self._cut.update(text for text, text_tokens in tokens.items() if text_tokens.cut)

        def vectors_of(texts: list[str]) -> list[Vector]:
            return self._network.vectors([tokens[text] for text in texts], self._needs)

        digests = {text: digest(text) for text in missing}
        for vectors in through_cache(self._scope, digests, vectors_of, at_once=WORTH_KEEPING):
            self._vectors.update(vectors)
        return self._vectors

    def is_cut(self, text: str) -> bool:
        """Whether a text that was read has more tokens than the network reads."""
        return text in self._cut


class TextEncoder(Network):
    """A loaded model of texts; of an encoder-decoder model, only the encoder."""

    def __init__(self, checkpoint: Checkpoint, device: Any) -> None:
        super().__init__(checkpoint, device)
        model, tokenizer, self.commit = parts(checkpoint, what=KIND)
        model = _encoder(model, checkpoint)
        self._model = model.to(device)
        self._tokenizer = tokenizer
        self._limit = read_limit(model, tokenizer, model.config)
        self.special = {token for token in (tokenizer.cls_token_id, tokenizer.sep_token_id) if token is not None}
        """The tokens that begin and end a text."""

    def tokenizer(self, *, blank_first: bool = False) -> Tokenizer:
        """The tokenizer, which cuts at the model's last position."""
        return Tokenizer(self._tokenizer, self._limit, blank_first=blank_first)

    def tokens(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]:
        """Unit vectors of the tokens of each text: one float32 array of shape (tokens, numbers) per text."""
        return self._unit_rows(tokens, needs, lambda hidden: hidden)

    def vectors(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]:
        """Unit vectors of texts: the means over all of their tokens."""
        return self._unit_rows(tokens, needs, lambda hidden: hidden.mean(dim=1))

    def _unit_rows(self, tokens: Sequence[Tokens], needs: Needs, rows_of: Callable[[Any], Any]) -> list[Vector]:
        import torch

        def run(ids: Any) -> Any:
            rows = rows_of(self._model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.float())
            return (rows / rows.norm(dim=-1, keepdim=True)).cpu().numpy()

        return by_length(self, tokens, run, needs)


def tokenizer_alone(checkpoint: Checkpoint, *, blank_first: bool = False) -> Tokenizer:
    """The tokenizer of an encoder, without the encoder's weights.

    Raises `DataError` if it cannot be loaded, or the checkpoint is of another kind.
    """
    return _tokenizer_alone(checkpoint, checkpoint.checksum(), blank_first)


@lru_cache(maxsize=4)
def _tokenizer_alone(checkpoint: Checkpoint, _: str, blank_first: bool) -> Tokenizer:
    import torch
    from transformers import AutoModel

    config, tokenizer = described(checkpoint, what=KIND)
    make: Any = AutoModel.from_config
    with torch.device("meta"):
        model = _encoder(make(config), checkpoint)
    return Tokenizer(tokenizer, read_limit(model, tokenizer, model.config), blank_first=blank_first)


def _encoder(model: Any, checkpoint: Checkpoint) -> Any:
    """The model; of one that also decodes, the part that encodes. Raises `DataError` for one of another kind."""
    if model.main_input_name != "input_ids" or hasattr(model, "get_image_features"):
        raise DataError(
            f"{checkpoint} is a {type(model).__name__}, which does not encode texts; accepted are models that "
            "give a vector for each token, such as BERT, RoBERTa, DeBERTa, MPNet or the encoders of BART and T5"
        )
    return model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model


def onnx_of(checkpoint: Checkpoint) -> OnnxTexts | None:
    """The network of a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`, loaded once per process.

    None where they are not there, onnxruntime is not installed, or another precision is asked for.
    """
    if checkpoint.precision != "float32" or not os.path.isfile(os.path.join(checkpoint.name, "tokenizer.json")):
        return None
    if not all(map(importlib.util.find_spec, ("onnxruntime", "tokenizers"))):
        return None
    places = (os.path.join(checkpoint.name, *inside, "model.onnx") for inside in ((), ("onnx",)))
    place = next(filter(os.path.isfile, places), None)
    return None if place is None else _loaded(checkpoint, place, checkpoint.checksum(), Checkpoint(place).checksum())


@lru_cache(maxsize=2)
def _loaded(checkpoint: Checkpoint, place: str, *checksums: str) -> OnnxTexts:
    return OnnxTexts(checkpoint, place, "+".join(checksums))


class OnnxTexts:
    """A loaded model of texts. It reads text by text: a quantised one would see what else is in a batch.

    Raises `DataError` for files that cannot be read.
    """

    device = "cpu"

    def __init__(self, checkpoint: Checkpoint, place: str, checksum: str) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self.checkpoint = checkpoint
        self.identity = f"{os.path.basename(os.path.abspath(checkpoint.name))}({checksum})"
        """Name of the folder, and checksums of its files and of the network, for signatures."""
        try:
            self._session = onnxruntime.InferenceSession(place, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(os.path.join(checkpoint.name, "tokenizer.json"))
        except Exception as error:  # each has exceptions of its own
            raise DataError(f"{place}: not a model in ONNX with its tokenizer.json: {error}") from error
        self._inputs = {value.name for value in self._session.get_inputs()}
        self._tokenizer.no_padding()
        self.limit = int((self._tokenizer.truncation or {}).get("max_length", _USUAL_LIMIT))
        self._tokenizer.no_truncation()

    def tokenizer(self) -> OnnxTexts:
        """What cuts texts into tokens: itself."""
        return self

    def __call__(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text: of a long one the first, and the last, which ends it."""
        read = [tuple(text.ids) for text in self._tokenizer.encode_batch([text.strip() for text in texts])]
        most = self.limit
        return [Tokens(ids if len(ids) <= most else (*ids[: most - 1], ids[-1]), len(ids) > most) for ids in read]

    def vectors(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]:
        """Unit vectors of texts: the means over all of their tokens."""
        import numpy as np

        tell = share_teller(needs, "reading captions", len(tokens))
        vectors = []
        for done, text_tokens in enumerate(tokens, 1):
            ids = np.array([text_tokens.ids], dtype=np.int64)
            inputs: dict[str, Any] = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            rows = self._session.run(None, {name: inputs[name] for name in self._inputs})[0]
            vector = rows[0].mean(axis=0)
            vectors.append((vector / np.linalg.norm(vector)).astype(np.float32))
            tell(done)
        return vectors
