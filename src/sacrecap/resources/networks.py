"""Networks that metrics compare captions with: checkpoints of transformers, loaded once per process, and their vectors.

Models of texts run by torch or by onnxruntime, and give a vector for each token or for the text. Texts are tokens, cut
at the network's length, in batches of equal length, so that nothing is padded. Models of images and texts (CLIP, SigLIP
and similar ones) map both into one space. Nothing here loads torch before a model is needed.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from sacrecap.data.cache import WORTH_KEEPING, digest, kept_features, through_cache
from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.resources.needs import Needs, WorkShare
from sacrecap.vision.checkpoint_parts import load_part
from sacrecap.vision.devices import choose_device
from sacrecap.vision.image_folder import results_by_content

if TYPE_CHECKING:
    from sacrecap.data.cache import Vector
    from sacrecap.data.images import ImageFile

T = TypeVar("T")
N = TypeVar("N", bound="Network")

PRECISIONS = ("float32", "float16", "bfloat16")
MAIN = "main"
"""The revision that the hub returns by default."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint of transformers, with the precision in which it runs."""

    name: str
    """A folder, or a name on the hub."""
    revision: str = MAIN
    """Branch, tag or commit on the hub."""
    precision: str = "float32"
    layers: int | None = None
    """Keep only this many of its layers, from the first; None keeps all."""

    @property
    def is_here(self) -> bool:
        """Whether it is a folder or a file of this machine, rather than a name on the hub."""
        return os.path.exists(self.name)

    def __str__(self) -> str:
        return self.name if self.revision == MAIN else f"{self.name}@{self.revision}"

    def missing(self) -> str | None:
        """Why it cannot be used without a download from the hub, and what to do; None if it can."""
        if self.is_here:
            return None
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError

        with suppress(HFValidationError):  # who has the configuration has usually the checkpoint
            if isinstance(try_to_load_from_cache(self.name, "config.json", revision=self.revision), str):
                return None
        remedy = "name the metric itself, not its group, to fetch the model from the hub, or give a folder (model=DIR)"
        return f"it needs the model {self}, which is not on this machine: {remedy}"

    def check_usable(self, what: str) -> None:
        """Raises `MissingDependencyError` without the extra, `UsageError` for the revision of a folder."""
        if missing_extra(what) is not None:
            raise MissingDependencyError(what, extra="learned")
        if self.is_here and self.revision != MAIN:
            raise UsageError(f"{self.name} is a folder, which has no revisions; leave revision={self.revision} out")

    def part(self, factory: Any, what: str, files: str = "", **options: Any) -> Any:
        """A part of it, of a class of transformers. Raises `DataError` as `load_part`."""
        files = files or "config.json, the tokenizer's files and model.safetensors"
        return load_part(factory, self.name, what=what, files=files, revision=self.revision, **options)

    def checksum(self) -> str:
        """Twelve digits of a checksum of the folder or file; none for a checkpoint of the hub, which has a commit."""
        if not self.is_here:
            return ""
        files = [self.name]
        if os.path.isdir(self.name):
            suffixes = (".json", ".txt", ".model", ".safetensors", ".bin")  # of files that its results depend on
            files = sorted(
                file.path for file in os.scandir(self.name) if file.is_file() and file.name.endswith(suffixes)
            )
        stats = [(path, os.stat(path)) for path in files]
        return _checksum(tuple((path, status.st_size, status.st_mtime_ns) for path, status in stats))


def missing_extra(what: str) -> str | None:
    """The message about a missing extra, None if it is installed. Nothing is imported for this check."""
    if all(importlib.util.find_spec(package) for package in ("torch", "transformers", "PIL")):
        return None
    return str(MissingDependencyError(what, extra="learned"))


@lru_cache(maxsize=16)
def _checksum(files: tuple[tuple[str, int, int], ...]) -> str:
    digest = sha256()
    for path, size, _ in files:
        digest.update(f"{os.path.basename(path)} {size}\n".encode())
        with open(path, "rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()[:12]


class Network:
    """A loaded network, with the identity of its results. Subclasses load it and compute its output."""

    batch = 8
    """Batch size on a CPU. Each batch has this size, the last one is padded, so that a result does not depend on the
    other inputs: matrices of other sizes may be summed in another order."""
    batch_on_gpu = 64

    def __init__(self, checkpoint: Checkpoint, device: Any) -> None:
        self.checkpoint, self.device = checkpoint, device
        self.size = self.batch if device.type == "cpu" else self.batch_on_gpu

    commit: str | None = None
    """The commit on the hub."""

    @property
    def identity(self) -> str:
        """Name and checksum of a folder, name and commit of a checkpoint of the hub, for signatures."""
        if self.checkpoint.is_here:
            name = os.path.basename(os.path.abspath(self.checkpoint.name))
            return f"{name}({self.checkpoint.checksum()})"
        version = self.commit[:12] if self.commit else self.checkpoint.revision
        return f"{self.checkpoint.name}@{version}"

    def in_batches(
        self,
        shapes: Sequence[Hashable],
        run: Callable[[list[int]], Iterable[Any]],
        tell: Callable[[int], object] = lambda _: None,
    ) -> list[Any]:
        """Calls `run` on batches of `size` inputs of equal shape, by their numbers; returns its result for each input.

        A batch that does not fit into a GPU is tried again with half as many. `tell` gets how many inputs are finished.
        """
        groups: dict[Hashable, list[int]] = {}
        for number, shape in enumerate(shapes):
            groups.setdefault(shape, []).append(number)
        results: dict[int, Any] = {}
        for rest in groups.values():
            while rest:
                chosen = rest[: self.size]
                try:
                    results |= zip(chosen, run(chosen + chosen[-1:] * (self.size - len(chosen))), strict=False)
                except RuntimeError as error:
                    if "out of memory" not in str(error):
                        raise
                    if self.size == 1:
                        memory = f"{self.checkpoint} does not fit into the memory of {self.device}"
                        raise UsageError(f"{memory}; choose another device, or precision=float16") from None
                    self.size //= 2
                else:
                    del rest[: len(chosen)]
            tell(len(results))
        return [results[number] for number in range(len(shapes))]


_networks: dict[tuple[type[Network], Checkpoint, str, str], Network] = {}
_loading = threading.Lock()


def load(kind: type[N], checkpoint: Checkpoint, needs: Needs) -> N:
    """The network, loaded once per process for each checkpoint, precision and device.

    Raises `MissingDependencyError` without the extra, `UsageError` for a device, `DataError` for a checkpoint.
    """
    device = choose_device(needs.get("device") or "auto")
    key = (kind, checkpoint, checkpoint.checksum(), str(device))
    with _loading:
        if key not in _networks:
            _networks[key] = kind(checkpoint, device)
        return cast("N", _networks[key])


def parts(checkpoint: Checkpoint, *, what: str) -> tuple[Any, Any, str | None]:
    """The model, its tokenizer, and the commit on the hub. Raises `DataError` for weights that are incomplete."""
    import torch
    from transformers import AutoModel

    config, tokenizer = described(checkpoint, what=what)
    model, loaded = checkpoint.part(AutoModel, what, config=config, output_loading_info=True)
    missing = [name for name in sorted(loaded["missing_keys"]) if "pooler" not in name and "position_ids" not in name]
    if missing:
        lacking = f"{missing[0]} and {len(missing) - 1} more of a {type(model).__name__}"
        raise DataError(f"{checkpoint}: its weights lack {lacking}; give the whole checkpoint")
    commit = getattr(config, "_commit_hash", None)
    return model.to(dtype=getattr(torch, checkpoint.precision)).eval(), tokenizer, commit


def described(checkpoint: Checkpoint, *, what: str) -> tuple[Any, Any]:
    """The model's configuration and its tokenizer. Raises `DataError` if they cannot be loaded."""
    from transformers import AutoConfig, AutoTokenizer

    config = checkpoint.part(AutoConfig, what)
    depth, layers = getattr(config, "num_hidden_layers", None), checkpoint.layers
    if layers is not None and isinstance(depth, int):  # or else a model of another kind, which its class will refuse
        if not 1 <= layers <= depth:
            raise UsageError(f"{checkpoint}: has {depth} layers; give layer=N, from 1 to {depth}")
        config.num_hidden_layers = layers
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[:layers]
    return config, checkpoint.part(AutoTokenizer, what)


_TEXTS, _TEXTS_AND_IMAGES = "model of texts", "model of images and texts"
MOST_REMEMBERED = 100_000
"""Most results of a kind that needs remember between two batches: 200 MB of vectors with 512 numbers each."""


class Tokens(NamedTuple):
    """The tokens of a text."""

    ids: tuple[int, ...]
    """The tokens that the network reads, including special ones."""
    cut: bool
    """Whether there were more tokens than the network reads."""


class Tokenizer:
    """A tokenizer of transformers, which cuts texts at `limit` tokens, or pads them to it, special ones counted.

    `blank_first` puts a blank before the first word, as before all others, for RoBERTa's and GPT-2's, which tell.
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
    """What is wanted and not remembered, each once; beyond `MOST_REMEMBERED`, all is forgotten that is not wanted.

    A scorer of a pipeline gets other captions and images with every batch, and may live for days.
    """
    keys = dict.fromkeys(keys)
    missing = [key for key in keys if key not in remembered]
    if missing and len(remembered) > MOST_REMEMBERED:
        for key in [key for key in remembered if key not in keys]:
            del remembered[key]
    return missing


def vectors_of_texts(
    network: TextEncoder | OnnxTexts | Clip, tokenizer: Tokenizer | OnnxTexts, needs: Needs, texts: Iterable[str]
) -> tuple[Mapping[str, Vector], set[str]]:
    """Unit vectors of texts, and those that have more tokens than the network reads; with all texts before.

    Each text is read once during the life of `needs`, and many at once are cached on disk.
    """
    scope = f"text {network.identity} {network.checkpoint.precision} {tokenizer.limit}"
    vectors: dict[str, Vector] = needs.once((scope, str(network.device)), dict)
    cut: set[str] = needs.once(("cut", scope, str(network.device)), set)
    missing = missing_of(vectors, texts)
    tokens = dict(zip(missing, tokenizer(missing), strict=True))
    cut.update(text for text, text_tokens in tokens.items() if text_tokens.cut)

    def read(texts: list[str]) -> list[Vector]:
        return network.vectors([tokens[text] for text in texts], needs)

    for part in through_cache(scope, {text: digest(text) for text in missing}, read, at_once=WORTH_KEEPING):
        vectors |= part
    return vectors, cut


class TextEncoder(Network):
    """A loaded model of texts; of an encoder-decoder model, only the encoder."""

    def __init__(self, checkpoint: Checkpoint, device: Any) -> None:
        super().__init__(checkpoint, device)
        model, tokenizer, self.commit = parts(checkpoint, what=_TEXTS)
        model = _encoder(model, checkpoint)
        self._model = model.to(device)
        self._tokenizer = tokenizer
        self._limit = read_limit(model, tokenizer, model.config)
        self.special = {token for token in (tokenizer.cls_token_id, tokenizer.sep_token_id) if token is not None}
        """The tokens that begin and end a text."""

    def tokenizer(self, *, blank_first: bool = False) -> Tokenizer:
        """The tokenizer, which cuts at the model's last position."""
        return Tokenizer(self._tokenizer, self._limit, blank_first=blank_first)

    def vectors(self, tokens: Sequence[Tokens], needs: Needs, *, of_tokens: bool = False) -> list[Vector]:
        """Unit vectors of texts: the means over all of their tokens.

        `of_tokens`: those of the tokens of each text: one float32 array of shape (tokens, numbers) per text.
        """
        import torch

        def run(ids: Any) -> Any:
            hidden = self._model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.float()
            return _unit(hidden if of_tokens else hidden.mean(dim=1))

        return by_length(self, tokens, run, needs)


@lru_cache(maxsize=4)
def tokenizer_alone(checkpoint: Checkpoint, checksum: str) -> Tokenizer:  # noqa: ARG001 (a folder that changes is another)
    """The tokenizer of an encoder, with a blank before the first word, without the encoder's weights."""
    import torch
    from transformers import AutoModel

    config, tokenizer = described(checkpoint, what=_TEXTS)
    make: Any = AutoModel.from_config
    with torch.device("meta"):
        model = _encoder(make(config), checkpoint)
    return Tokenizer(tokenizer, read_limit(model, tokenizer, model.config), blank_first=True)


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
    for inside in ("", "onnx"):
        place = os.path.join(checkpoint.name, inside, "model.onnx")
        if os.path.isfile(place):
            return _onnx(checkpoint, place, f"{checkpoint.checksum()}+{Checkpoint(place).checksum()}")
    return None


class OnnxTexts:
    """A loaded model of texts. It reads text by text: a quantised one would see what else is in a batch."""

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
        self.limit = int((self._tokenizer.truncation or {}).get("max_length", 512))
        """The most tokens that the network reads."""
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
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            rows = self._session.run(None, {name: inputs[name] for name in self._inputs})[0]
            vector = rows[0].mean(axis=0)
            vectors.append((vector / np.linalg.norm(vector)).astype(np.float32))
            tell(done)
        return vectors


_onnx = lru_cache(maxsize=2)(OnnxTexts)


class Clip(Network):
    """A loaded model of images and texts."""

    def __init__(self, checkpoint: Checkpoint, device: Any) -> None:
        super().__init__(checkpoint, device)
        from transformers import AutoImageProcessor

        model, self._tokenizer, self.commit = parts(checkpoint, what=_TEXTS_AND_IMAGES)
        if not (hasattr(model, "get_text_features") and hasattr(model, "get_image_features")):
            raise DataError(
                f"{checkpoint} is a {type(model).__name__}, which does not map images and texts into one space; "
                "accepted are models with features of both, such as CLIP, SigLIP, ALIGN, AltCLIP, ChineseCLIP or BLIP"
            )
        needed = "preprocessor_config.json next to the model's files"
        self._processor = checkpoint.part(AutoImageProcessor, _TEXTS_AND_IMAGES, needed)
        self._model = model.to(device)
        text_config = getattr(model.config, "text_config", model.config)
        self.limit = read_limit(model, self._tokenizer, text_config)
        """The most tokens that the model has positions for."""
        self._siglip = str(model.config.model_type).startswith("siglip")
        """SigLIP was trained on texts that are padded to its length, and its output depends on the padding."""

    def tokenizer(self, limit: int | None) -> Tokenizer:
        """The tokenizer, which cuts at `limit` tokens, or at the model's last position."""
        most = self.limit if limit is None else min(limit, self.limit)
        return Tokenizer(self._tokenizer, most, padded=self._siglip)

    def vectors(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]:
        """Unit vectors of texts."""

        def run(ids: Any) -> Any:
            import torch

            mask = {} if self._siglip else {"attention_mask": torch.ones_like(ids)}
            return _unit(self._model.get_text_features(input_ids=ids, **mask))

        return by_length(self, tokens, run, needs)

    def images(self, pictures: Sequence[Any]) -> list[Vector]:
        """Unit vectors of Pillow images."""
        import torch

        inputs = [self._processor(images=[picture], return_tensors="pt") for picture in pictures]

        def run(chosen: list[int]) -> Any:
            batch = {name: torch.cat([inputs[number][name] for number in chosen]).to(self.device) for name in inputs[0]}
            batch["pixel_values"] = batch["pixel_values"].to(self._model.dtype)
            with torch.inference_mode():
                return _unit(self._model.get_image_features(**batch))

        shapes = [tuple((name, tuple(value.shape)) for name, value in tensors.items()) for tensors in inputs]
        return self.in_batches(shapes, run)


def _unit(output: Any) -> Any:
    """Rows of length 1, in float32, on the CPU; transformers 5 returns the features inside an output."""
    rows = (output if hasattr(output, "norm") else output.pooler_output).float()
    return (rows / rows.norm(dim=-1, keepdim=True)).cpu().numpy()


_IMAGES_AT_ONCE = 64
"""Number of images that are open at the same time."""


def looked_at(clip: Clip, files: Mapping[str, ImageFile], needs: Needs) -> Mapping[str, tuple[Vector, bytes]]:
    """The unit vector of each image, and the digest of its file. Raises `DataError` for what is not an image."""
    scope = f"image {clip.identity} {clip.checkpoint.precision}"
    seen: dict[str, tuple[Vector, bytes]] = needs.once((scope, str(clip.device)), dict)
    missing = sorted(missing_of(seen, files), key=lambda image: files[image].order)
    tell, done = share_teller(needs, "looking at images", len(missing)), 0
    chosen = {image: files[image] for image in missing}
    for results in results_by_content(chosen, kept_features(scope), clip.images, at_once=_IMAGES_AT_ONCE):
        for image, (vector, file_digest) in results.items():
            if isinstance(vector, DataError):
                raise vector
            seen[image] = vector, file_digest
        done += len(results)
        tell(done)
    return seen
