"""Divide the teacher's parses into those to train on, to tune on and to report on, by image.

Two captions of one image say the same, so that a caption of an image that is reported on must not be trained on. An
image goes by the checksum of its name; a caption by all images that it is said of: to the report if any of them is
there, else to tuning, else to training.

    python -m parser.split IMAGES OUT CONLL [CONLL ...]

IMAGES: a text file, `source<TAB>image<TAB>caption after the PTB tokenizer` on each line. CONLL: files of parses,
`.gz` or not. OUT: a folder, to which train.conll, tune.conll and report.conll are written, each parse after
a comment `# source`, and held-out.json, the images of the report per source.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from parser.conll import Sentence, read, write

PARTS = ("report", "tune", "train")
DIVISOR = 12


def part_of_image(image: str) -> str:
    """Part of an image: a twelfth to report on, a twelfth to tune on."""
    remainder = zlib.crc32(image.encode()) % DIVISOR
    return PARTS[min(remainder, 2)]


def squeezed(words: Iterable[str]) -> str:
    """A caption without its blanks: the teacher cuts some words in two."""
    return "".join(words).replace(" ", "")


def divide(
    images: Iterable[tuple[str, str, str]], sentences: Iterable[Sentence]
) -> tuple[dict[str, list[Sentence]], dict[str, list[str]]]:
    """The parses of each part, and the images of the report per source."""
    caption_part: dict[str, str] = {}
    caption_source: dict[str, str] = {}
    held_out: dict[str, dict[str, None]] = {}
    for source, image, caption in images:
        part = part_of_image(image)
        key = squeezed(caption)
        caption_source.setdefault(key, source)
        caption_part[key] = min(part, caption_part.get(key, "train"), key=PARTS.index)
        if part == "report":
            held_out.setdefault(source, {})[image] = None
    parts: dict[str, list[Sentence]] = {part: [] for part in PARTS}
    keys_before: set[str] = set()
    for sentence in sentences:
        key = squeezed(sentence.plain_words())
        if key in keys_before:
            continue
        keys_before.add(key)
        if key not in caption_part:
            message = f"no image has the caption {' '.join(sentence.words)!r}: IMAGES has to list every parsed caption"
            raise SystemExit(message)
        parts[caption_part[key]].append(sentence.of_source(caption_source[key]))
    return parts, {source: sorted(names) for source, names in held_out.items()}


def read_images(path: Path) -> Iterator[tuple[str, str, str]]:
    """Source, image and caption of each line."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            source, image, caption = line.rstrip("\n").split("\t")
            yield source, image, caption


def main() -> None:
    """Read the arguments, write the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("conll", type=Path, nargs="+")
    arguments = parser.parse_args()
    sentences = (sentence for path in arguments.conll for sentence in read(path))
    parts, held_out = divide(read_images(arguments.images), sentences)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for part, parses in parts.items():
        write(arguments.out / f"{part}.conll", parses)
        print(f"{part}: {len(parses):,} captions")
    (arguments.out / "held-out.json").write_text(json.dumps(held_out), encoding="utf-8")


if __name__ == "__main__":
    main()
