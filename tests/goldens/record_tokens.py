"""Records the original tokenizer's tokens of made-up captions: `python tests/goldens/record_tokens.py`.

Needs pycocoevalcap and a Java runtime. Writes, beside this file, one JSON value a line:

- `ptb-cases.jsonl`: `{"input", "tokens"}`, each caption a text of its own;
- `ptb-batch-cases.jsonl`: `{"captions", "tokenized"}`, the captions of a line in one call.

`rust/core/tests/ptb_cases.rs` reads them.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pycocoevalcap.tokenizer import ptbtokenizer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from captions import odd

ALONE, BATCHES, BATCH = 1200, 80, 10
JAR = Path(ptbtokenizer.__file__).with_name(ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR)


def tokens(texts: list[str]) -> list[list[str]]:
    """The lines of tokens of each text, as the suite takes them from the program: a file per text, one call for all."""
    with tempfile.TemporaryDirectory() as folder:
        given = [Path(folder, f"{number}.txt") for number in range(len(texts))]
        found = [path.with_suffix(".out") for path in given]
        for path, text in zip(given, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        pairs = Path(folder, "pairs")
        pairs.write_text("".join(f"{one}\t{other}\n" for one, other in zip(given, found, strict=True)))
        program = ["java", "-Dfile.encoding=UTF-8", "-cp", JAR, "edu.stanford.nlp.process.PTBTokenizer"]
        command = [*program, "-preserveLines", "-lowerCase", "-ioFileList", pairs]
        subprocess.run(command, check=True, capture_output=True)
        return [path.read_text(encoding="utf-8").split("\n") for path in found]


def kept(line: str) -> list[str]:
    """What the suite keeps of a line."""
    words = line.rstrip().split(" ")  # at U+0020 alone: a token may hold a no-break space
    return [word for word in words if word and word not in ptbtokenizer.PUNCTUATIONS]


def write(name: str, values: Iterable[object]) -> None:
    lines = (json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    (HERE / name).write_text("".join(lines), encoding="utf-8")


def main() -> None:
    chance = random.Random(1)
    alone = [odd(chance) for _ in range(ALONE)]
    write(
        "ptb-cases.jsonl",
        ({"input": text, "tokens": kept(lines[0])} for text, lines in zip(alone, tokens(alone), strict=True)),
    )
    batches = [[odd(chance) for _ in range(BATCH)] for _ in range(BATCHES)]
    found = tokens(["\n".join(batch) for batch in batches])
    write(
        "ptb-batch-cases.jsonl",
        (
            {"captions": batch, "tokenized": [" ".join(kept(line)) for line in lines[:BATCH]]}
            for batch, lines in zip(batches, found, strict=True)
        ),
    )


if __name__ == "__main__":
    main()
