"""Which differences of length each metric bears: the table of docs/explanation/findings.md, on your own files.

usage: lengths.py REFERENCES CAPTIONS [--pad] [--whole] [--words N] [--objects FILE] [--metrics LIST] [--ratios 0.3,…]

CAPTIONS are cut after so many words that they are RATIO times as long as their references (or padded with references
that are held out, with --pad), once as they are, once given to other images. A metric bears a ratio if it still keeps
half of the difference between the right and the wrong captions, whichever of the two have the other length:

    kept(r) = min(S(right, r) - S(wrong, 1), S(right, 1) - S(wrong, r)) / (S(right, 1) - S(wrong, 1))

With --whole, 1 is the whole caption, and captions are only cut: for long captions, which cannot be made longer. With
--words, the references are cut to N words first: for the lengths between those of captions and of paragraphs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import sacrecap
from sacrecap.corpus.corpus import tokenize
from sacrecap.data import read_candidates, read_references
from sacrecap.metrics.registry import parse_metrics

METRICS = (
    "bleu-1, bleu-2, bleu-3, bleu-4, rouge-1, rouge-2, rouge-3, rouge-4, rouge-l, rouge-s, meteor, cider-d, "
    "cider-paper, spice, spider, wmd, sacrecap-1, coverage, precision"
)
RATIOS = "0.25,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.1,1.2,1.3,1.5,1.75,2,2.5,3,4,5"
Captions = dict[str, list[str]]


def _read(given: argparse.Namespace) -> tuple[Captions, dict[str, list[str]]]:
    """References, and the words of each caption with those that it may be padded with."""
    references = read_references(str(given.references)).to_dict()
    captions = {image: texts[0].split() for image, texts in read_candidates(str(given.captions)).to_dict().items()}
    references = {image: texts for image, texts in references.items() if image in captions}
    captions = {image: words for image, words in captions.items() if image in references}
    if given.words:
        references = {
            image: [" ".join(text.split()[: given.words]) for text in texts] for image, texts in references.items()
        }
    if given.pad:
        for image, texts in references.items():
            *references[image], held_out = texts
            captions[image] = captions[image] + held_out.split()
    return references, captions


def main() -> None:
    """Prints the share of the difference that is kept, a line per ratio, a column per metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("references", type=Path)
    parser.add_argument("captions", type=Path)
    parser.add_argument("--pad", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--words", type=int)
    parser.add_argument("--objects", type=Path)
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--ratios", default=RATIOS)
    parser.add_argument("--images", type=int, default=600)
    given = parser.parse_args()
    references, captions = _read(given)
    images = list(captions)[: given.images]
    references = {image: references[image] for image in images}
    metrics = parse_metrics(given.metrics)
    lengths = {}
    for image in images:
        words = [len(tokens) for tokens in tokenize(references[image])]
        lengths[image] = len(captions[image]) if given.whole else sum(words) / len(words)
    encoded = sacrecap.References(references)

    def scored(ratio: float, places: list[str]) -> list[float]:
        cut = {}
        for image, place in zip(images, places, strict=True):
            cut[place] = " ".join(captions[image][: max(1, round(ratio * lengths[image]))])
        objects = None if given.objects is None else str(given.objects)
        result = sacrecap.score(encoded, cut, metrics, interval=None, objects=objects)
        return [score.value for score in result.values()]

    wrong = images[1:] + images[:1]
    one = scored(1, images), scored(1, wrong)
    print("ratio " + " ".join(f"{metric.key:>11.11}" for metric in metrics))
    print(" right" + " ".join(f"{value:11.3f}" for value in one[0]))
    print(" wrong" + " ".join(f"{value:11.3f}" for value in one[1]))
    for ratio in map(float, given.ratios.split(",")):
        own = scored(ratio, images), scored(ratio, wrong)
        kept = [
            min((right_at - wrong_1) / (right_1 - wrong_1), (right_1 - wrong_at) / (right_1 - wrong_1))
            for right_1, wrong_1, right_at, wrong_at in zip(*one, *own, strict=True)
        ]
        print(f"{ratio:6.2f}" + " ".join(f"{share:11.2f}" for share in kept), flush=True)


if __name__ == "__main__":
    main()
