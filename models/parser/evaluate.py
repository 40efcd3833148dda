"""Compare the Rust parser with the teacher: right tags, lemmas, heads (UAS), heads with relation (LAS), per source.

    python -m parser.evaluate PARSE MODEL CONLL [--images IMAGES]

PARSE: the program that `cargo build --release --example parse` makes. CONLL: tune.conll or report.conll of split.py.
Numbers are of distinct captions. With IMAGES, the file that split.py read, each caption counts as often as it occurs.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from parser.conll import Sentence, read
from parser.split import read_images, squeezed


def parsed(program: Path, model: Path, captions: list[Sentence]) -> list[Sentence]:
    """What the Rust parser makes of the captions' words."""
    # The teacher joins `2 3/4` into one word by a no-break space, which the program must not cut at.
    text = "".join(" ".join(caption.plain_words()).replace("\u00a0", "_") + "\n" for caption in captions)
    out = subprocess.run([program, model], input=text, capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "out.conll")
        file.write_text(out, encoding="utf-8")
        return list(read(file))


def compare(teacher: Sentence, student: Sentence) -> dict[str, int]:
    """Words, and how many of each kind are right; `whole` counts captions right in heads and relations."""
    heads = [a == b for a, b in zip(teacher.heads, student.heads, strict=True)]
    labelled = [right and a == b for right, a, b in zip(heads, teacher.relations, student.relations, strict=True)]
    return {
        "captions": 1,
        "words": len(heads),
        "tag": sum(a == b for a, b in zip(teacher.tags, student.tags, strict=True)),
        "lemma": sum(a == b for a, b in zip(teacher.lemmas, student.lemmas, strict=True)),
        "uas": sum(heads),
        "las": sum(labelled),
        "whole": int(all(labelled)),
    }


def main() -> None:
    """Read the arguments, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("conll", type=Path)
    parser.add_argument("--images", type=Path)
    arguments = parser.parse_args()
    captions = list(read(arguments.conll))
    parses = parsed(arguments.program, arguments.model, captions)
    occurrences: dict[str, Counter[str]] = defaultdict(Counter)
    if arguments.images:
        for source, _, caption in read_images(arguments.images):
            occurrences[squeezed(caption)][source] += 1
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for teacher, student in zip(captions, parses, strict=True):
        counts = compare(teacher, student)
        where = occurrences[squeezed(teacher.plain_words())] if arguments.images else {teacher.source: 1}
        for source, times in where.items():
            for name in (source, "all"):
                for key, value in counts.items():
                    totals[name][key] += times * value
    print(f"{'source':<14}{'captions':>9}{'tag':>8}{'lemma':>8}{'UAS':>8}{'LAS':>8}{'whole':>8}")
    for name, total in sorted(totals.items(), key=lambda item: (item[0] == "all", item[0])):
        shares = [total[key] / total["words"] for key in ("tag", "lemma", "uas", "las")]
        figures = "".join(f"{share:8.4f}" for share in [*shares, total["whole"] / total["captions"]])
        print(f"{name:<14}{total['captions']:>9}{figures}")


if __name__ == "__main__":
    main()
