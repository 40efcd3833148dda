"""Scores of captions that are made to score well: by metrics of consensus, on references that you give.

usage: attack.py REFERENCES [--metrics "sacrecap-1, cider-d, spice, meteor, wmd, rouge-l"]

The first reference of each image is left out of the references, and honest captions are these. Attacks: a phrase of
the references said three times; all words of the references; the caption of another image; the commonest caption of
the data set for every image; the words of an honest caption in alphabetical order; no word at all.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable

import sacrecap
from sacrecap.corpus.corpus import as_references

Attack = Callable[[str, list[str]], str]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("references")
    options.add_argument("--metrics", default="sacrecap-1, cider-d, spice, meteor, wmd, rouge-l")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    captions = {image: own for image, own in as_references(given.references).to_dict().items() if len(own) > 2}
    honest = {image: own[0] for image, own in captions.items()}
    references = {image: own[1:] for image, own in captions.items()}
    images = list(captions)
    following = dict(zip(images, [*images[1:], images[0]], strict=True))
    commonest = _commonest(captions)
    attacks: dict[str, dict[str, str]] = {
        "a person's caption": honest,
        "a phrase three times": {image: " ".join(_half(references[image][0]) * 3) for image in images},
        "all words of the references": {image: " ".join(_words(references[image])) for image in images},
        "its words in alphabetical order": {image: " ".join(sorted(_words([honest[image]]))) for image in images},
        "another image's caption": {image: honest[following[image]] for image in images},
        "the commonest caption": dict.fromkeys(images, commonest),
        "no word": dict.fromkeys(images, ""),
    }
    print(f"{len(images):,} images; the commonest caption: {commonest}")
    for name, candidates in attacks.items():
        result = sacrecap.score(references, candidates, given.metrics, interval=None, on_missing="zero")
        print(f"{name:32}", "  ".join(f"{key} {score.value:.3f}" for key, score in result.items()))


def _half(caption: str) -> list[str]:
    words = caption.split()
    return words[: max(len(words) // 2, 2)]


def _words(captions: list[str]) -> list[str]:
    [*tokens] = sacrecap.tokenize(captions)
    return list(dict.fromkeys(word for own in tokens for word in own))


def _commonest(captions: dict[str, list[str]]) -> str:
    """The caption whose words are the most frequent of those of 8 words or more that occur most often."""
    tokens = [tuple(own) for own in sacrecap.tokenize([one for own in captions.values() for one in own])]
    counts = Counter(tokens)
    words = Counter(word for own in tokens for word in set(own))
    most = max(counts.values())
    tied = [own for own, count in counts.items() if count == most]
    return " ".join(max(tied, key=lambda own: sum(words[word] for word in set(own)) / max(len(own), 1)))


if __name__ == "__main__":
    main()
