"""How many bits a number of a board can reveal about hidden references, and how many of them the server's rules keep.

    python benchmarks/leak.py                        # on the example's references
    python benchmarks/leak.py --references captions_val2014.json --word man --images 5000
    python benchmarks/leak.py --only-command --asked 40

A number tells as many bits as its entropy over the images that could be asked about, drawn from the references
themselves: the mutual information of the answer with what it is the answer to.

The first table is of ROUGE-L, in closed form. In one file, some images get captions made for them, and all others the
same poor caption. Image i's is the word and 2**i - 1 words of nonsense, so its ROUGE-L says whether a reference of the
image has the word, and how long the shortest such is; one score is the mean of all. Rows are the number of images asked
at once; columns are the bits that there are to learn, and those that the score tells when all digits leave and when
four decimals leave, also where half of the images are private and do not count.

The second table is of laws that hold for any number of images: real scores of files that change the caption of one
image, or of one and a control whose answer is known. A BLEU-4 of a file without other 4-grams, p, and the ends of the
interval of the difference of two files each say whether the image's references have the words. Columns are the bits
that all digits tell, that four decimals tell, and that the server tells.

The third table attacks `sacrecap board` itself and the adapters in examples/boards: files ask about one image, which
has the references of many images in turn, and all that comes out is compared, byte for byte: the page with its picture,
the JSON, what is printed, and what the adapters write. Its columns are the bits about the references of the image that
all digits of all scores of the file would tell, that the command tells, and that each adapter tells. Where every output
is the same whatever the references are, nothing is told: 0.00.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import math
import os
import runpy
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import sacrecap
from sacrecap import example
from sacrecap._core import Statistics, paired_bootstrap, paired_exact
from sacrecap.boards.leaks import LIMITS, hangs_on_few, pseudo_values, shown
from sacrecap.cli.main import cli

BETA = 1.2
DRAWS = 200_000
ASKED = 300
"""Images that the second table asks about, one after the other."""
SAMPLES = 1000
ADAPTERS = Path(__file__).parents[1] / "examples" / "boards"
METRICS = "cider-d, bleu-4, meteor, rouge-l"
"""Of the adapters, and here of the command too."""
References = dict[str, list[str]]
Files = dict[str, dict[str, str]]
"""The captions of each system of a contest."""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--references", help="any references that sacrecap reads; the example's by default")
    parser.add_argument("--word", action="append", help="asked about; several times for several (default: dog, a, the)")
    parser.add_argument("--images", type=int, action="append", help="images of the benchmark (default: theirs)")
    parser.add_argument("--private", type=float, default=0.5, help="share of the private part (default 0.5)")
    parser.add_argument("--only-command", action="store_true", help="the third table alone")
    parser.add_argument("--asked", type=int, default=40, help="references of the image in the third table (default 40)")
    options = parser.parse_args()
    references = (
        sacrecap.data.read_references(options.references).to_dict() if options.references else example.references()
    )
    if not options.only_command:
        closed_form(options, references)
    print("\nfiles                                      all digits   command   Codabench   EvalAI   Space")
    for row in of_the_command(references, options.asked):
        print(row, flush=True)


def closed_form(options: argparse.Namespace, references: dict[str, list[str]]) -> None:
    """Prints the first two tables."""
    print(f"{len(references):,} images; {DRAWS:,} draws")
    print("word     images  asked   to learn   all digits   4 decimals   4 decimals, private part: public / private")
    for word in options.word or ["dog", "a", "the"]:
        lengths = [shortest(captions, word) for captions in references.values()]
        for images in options.images or [len(references)]:
            for asked in (1, 2, 4, 8):
                print(line(word, lengths, images, asked, options.private))
    print("\nnumber                      files                     all digits   4 decimals   told by the server")
    for row in laws(references):
        print(row)


def line(word: str, lengths: list[int], images: int, asked: int, private: float) -> str:
    """A row of the table."""
    rng = np.random.default_rng(asked)
    drawn = rng.choice(np.array(lengths), (DRAWS, asked))
    truth = asked * entropy(np.array(lengths))
    total = sum(values(place, drawn[:, place]) for place in range(asked))
    public = max(1, round(images * (1 - private)))
    cells = (
        f"{truth:10.2f}",
        f"{entropy(np.round(total, 12)):12.2f}",
        f"{entropy(np.round(total / images, 4)):12.2f}",
        f"{entropy(np.round(total / public, 4)):30.2f} / 0.00",
    )
    return f"{word:8} {images:6} {asked:6} {' '.join(cells)}"


def laws(references: dict[str, list[str]]) -> list[str]:
    """The rows of the second table."""
    images = list(references)
    four, word = commonest(references, 4), commonest(references, 1)
    nonsense = {image: f"zz{place} qq{place} ww{place} rr{place}" for place, image in enumerate(images)}
    asked = [images[place] for place in np.random.default_rng(0).choice(len(images), min(ASKED, len(images)), False)]
    found = []
    for metric, words, files in (("bleu-4", four, "no other n-grams"), ("rouge-l", word, "a control and the image")):
        table = rows_of(references, [nonsense, dict.fromkeys(images, words)], metric)
        control = next(row for row, found in enumerate(np.frombuffer(table.row_scores())[len(images) :]) if found > 0)
        answers = [answer(table, images.index(image), control) for image in asked]
        for name in ("score",) if metric == "bleu-4" else ("p", "lower end", "upper end"):
            exact, told = zip(*(each[name] for each in answers), strict=True)
            bits = [entropy(np.array(each)) for each in (np.round(exact, 12), np.round(exact, 4), told)]
            found.append(f"{metric + ' ' + name:27} {files:25} {bits[0]:10.2f} {bits[1]:12.2f} {bits[2]:20.2f}")
    return found


def commonest(references: dict[str, list[str]], n: int) -> str:
    """The n words that follow each other in the references of as near to half of the images as there are."""
    counts: Counter[str] = Counter()
    for captions in references.values():
        tokens = sacrecap.tokenize(captions)
        counts.update({" ".join(each[i : i + n]) for each in tokens for i in range(len(each) - n + 1)})
    return min(counts, key=lambda words: (abs(counts[words] - len(references) / 2), words))


def rows_of(references: dict[str, list[str]], files: list[dict[str, str]], metric: str) -> Statistics:
    """The statistics of all images of the first file, then those of the second."""
    scored = [sacrecap.score(references, file, metric, interval=None)[metric].rows for file in files]
    return scored[0].merge(scored[1])


def answer(table: Statistics, image: int, control: int) -> dict[str, tuple[float, float]]:
    """Each number exactly, and as the server tells it, where the image's caption asks."""
    count = table.rows // 2

    def file(*asking: int) -> Statistics:
        return table.select([row + count if row in asking else row for row in range(count)])

    alone, both, neither = file(image), file(image, control), file()
    _, [((lower, upper), _)] = paired_bootstrap([[both], [neither]], SAMPLES, 0.95, 0, 1)
    [p] = paired_exact([[both], [neither]], 1)
    value = alone.score()
    differ_in_few = hangs_on_few(pseudo_values(both) - pseudo_values(neither))
    limit = min((each for each in LIMITS if p < each), default=1.0)
    return {
        "score": (value, 0.0 if hangs_on_few(pseudo_values(alone)) else shown(value)),
        "p": (p, -1.0 if differ_in_few else limit),
        "lower end": (lower, -9.0 if differ_in_few else shown(lower)),
        "upper end": (upper, -9.0 if differ_in_few else shown(upper)),
    }


def of_the_command(references: References, asked: int) -> Iterator[str]:
    """The rows of the third table."""
    image, *others = references
    drawn = [others[place] for place in np.random.default_rng(0).choice(len(others), min(asked, len(others)), False)]
    for name, files in attacks(references, image).items():
        told = []
        for other in drawn:
            hidden = {**references, image: references[other]}
            scores = sacrecap.score(hidden, files["asking"], METRICS, interval=None)
            exact = str([round(score.value, 12) for score in scores.values()])
            told.append([exact, *outputs(hidden, files)])
        bits = [entropy(np.array(column)) for column in zip(*told, strict=True)]
        yield f"{name:42} {bits[0]:10.2f} {bits[1]:9.2f} {bits[2]:11.2f} {bits[3]:8.2f} {bits[4]:7.2f}"


def attacks(references: References, image: str) -> dict[str, Files]:
    """What is submitted to learn about an image, by what it is called; the system `asking` is the one that asks."""
    four, word = commonest(references, 4), commonest(references, 1)
    nonsense = {each: f"zz{place} qq{place} ww{place} rr{place}" for place, each in enumerate(references)}
    # A system as good as people: of each image, the first of its references.
    system = {each: captions[0] for each, captions in references.items()}
    known = next(each for each in references if each != image and word in sacrecap.tokenize(references[each])[0])
    return {
        "the commonest 4-gram, else nonsense": {"asking": {**nonsense, image: four}},
        "a pair: a known image and this one": {"neither": nonsense, "asking": {**nonsense, known: word, image: word}},
        "good captions, and one that asks": {"asking": {**system, image: four}},
        "a pair of these, and one asks": {"plain": system, "asking": {**system, image: four}},
    }


def outputs(references: References, files: Files) -> list[str]:
    """A digest of all that the command tells of these files, and of what each adapter tells of the one that asks."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for part in ("contest", "hidden", "ref", "res", "out"):
            (place / part).mkdir()
        (place / "hidden/references.json").write_text(json.dumps(references))
        declared = ("references = '../hidden/references.json'", "title = 'Leaks'", f"metrics = '{METRICS}'")
        (place / "contest/contest.toml").write_text("\n".join(declared))
        (place / "ref/references.json").write_text(json.dumps(references))
        (place / "res/asking.json").write_text(json.dumps(files["asking"]))
        for name, captions in files.items():
            path = place / f"contest/submissions/{name}/captions.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(captions))
        return [of_board(place), of_codabench(place), of_evalai(place), of_space(place)]


def of_board(place: Path) -> str:
    """Page, picture and JSON of `sacrecap board`, and what it prints."""
    arguments = ["board", str(place / "contest"), "-o", str(place / "site")]
    done = CliRunner().invoke(cli, arguments, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return digest(done.output, *(path.read_text() for path in sorted((place / "site").iterdir())))


def of_codabench(place: Path) -> str:
    """What the leaderboard and the detailed results of Codabench get."""
    main = runpy.run_path(str(ADAPTERS / "codabench/score.py"))["main"]
    main(place, place / "out")
    return digest(*(path.read_text() for path in sorted((place / "out").iterdir())))


def of_evalai(place: Path) -> str:
    """What EvalAI's worker gets."""
    evaluate = runpy.run_path(str(ADAPTERS / "evalai/main.py"))["evaluate"]
    return digest(json.dumps(evaluate(str(place / "hidden/references.json"), str(place / "res/asking.json"), "test")))


def of_space(place: Path) -> str:
    """What a Space shows, with stand-ins for its two packages."""
    shown_by: list[str] = []
    hub, gradio = types.ModuleType("huggingface_hub"), types.ModuleType("gradio")
    hub.snapshot_download = lambda *_, **__: str(place / "hidden")  # type: ignore[attr-defined]
    gradio.HTML = shown_by.append  # type: ignore[attr-defined]
    gradio.Blocks = lambda **_: contextlib.nullcontext()  # type: ignore[attr-defined]
    sys.modules.update(huggingface_hub=hub, gradio=gradio)
    os.environ["REFERENCES"] = "lab/references"
    (place / "app.py").write_text((ADAPTERS / "space/app.py").read_text())
    runpy.run_path(str(place / "app.py"))
    return digest(*shown_by)


def digest(*texts: str) -> str:
    """The same for the same texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def shortest(captions: list[str], word: str) -> int:
    """Tokens of the shortest reference with the word; 0 where none has it."""
    return min((len(tokens) for tokens in sacrecap.tokenize(captions) if word in tokens), default=0)


def values(place: int, lengths: np.ndarray) -> np.ndarray:
    """ROUGE-L of the word and 2**place - 1 words of nonsense."""
    precision, recall = 1 / 2**place, 1 / np.maximum(lengths, 1)
    return np.where(lengths == 0, 0.0, (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision))


def entropy(sample: np.ndarray) -> float:
    """Bits, with Miller and Madow's correction (1955) for what a finite sample misses."""
    _, counts = np.unique(sample, return_counts=True)
    share = counts / counts.sum()
    return float(-(share * np.log2(share)).sum() + (len(counts) - 1) / (2 * len(sample) * math.log(2)))


if __name__ == "__main__":
    main()
