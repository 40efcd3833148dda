"""Records what NLTK's WordNetLemmatizer makes of nouns: `record_lemmas.py CAPTIONS… > noun_lemmas.tsv`.

NLTK needs its data `wordnet` (WordNet 3.0), CAPTIONS are texts. Of their words, and of these with the endings
of plurals, those are recorded that begin like a word of CHAIR's published list, or become one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from nltk.stem import WordNetLemmatizer

import sacrecap

LIST = Path(sacrecap.__file__).parent / "resources/chair/coco.txt"


def main() -> None:
    """Prints a word and its lemma per line."""
    lemmatize = WordNetLemmatizer().lemmatize
    listed = re.findall(r"[a-z]+", LIST.read_text(encoding="utf-8").lower())
    beginnings = {word[: max(len(word) - 1, 3)] for word in listed}
    words = {word for path in sys.argv[1:] for word in re.findall(r"[a-z]+", Path(path).read_text("utf-8").lower())}
    words |= {word + ending for word in listed for ending in ("", "s", "es", "ss", "ses", "men")}
    for word in sorted(words):
        lemma = lemmatize(word)
        alike = (word.startswith(beginning) and len(word) < len(beginning) + 5 for beginning in beginnings)
        if lemma in listed or any(alike):
            print(f"{word}\t{lemma}")


if __name__ == "__main__":
    main()
