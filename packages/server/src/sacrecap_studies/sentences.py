"""Sentences that people write of an image: what is none, and which say the same."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrecap_studies.questions import AnswerError, Content, Form, Text

LEAST_WORDS = 4
MOST_CHARACTERS = 500

_WORD = re.compile(r"[^\W\d_]+")
# Scripts that put no blanks between words: Thai to Khmer, kana, Chinese characters. A word has about two letters.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z]{4,}")
_SAME_LETTER = re.compile(r"([^\W\d_])\1{3}")
_KEYS = ("qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")


@dataclass(frozen=True, kw_only=True)
class Sentence(Text):
    """A sentence that describes an image (CIDEr: Vedantam et al., 2015, section 4)."""

    type = "sentence"

    def read(self, _: Content, form: Form, order: Sequence[int]) -> str:  # noqa: ARG002
        sentence = " ".join(form.get(self.name, "").split())
        if len(sentence) > MOST_CHARACTERS:
            raise AnswerError("One sentence, please: at most %(most)d characters.", most=MOST_CHARACTERS)
        if _words(sentence) < LEAST_WORDS:
            raise AnswerError("Write a whole sentence, of %(least)d words or more.", least=LEAST_WORDS)
        if any(mark in sentence for mark in '"“”«»'):
            raise AnswerError("No dialogue, please: say what can be seen, without quotation marks.")
        if sentence.isupper():
            raise AnswerError("Please do not write in capitals only.")
        if _is_gibberish(sentence):
            raise AnswerError("This does not read as a sentence. Please describe the image in words.")
        return sentence

    def fingerprint(self, answer: Any) -> str | None:
        """Of the words alone: other punctuation, numbers or order of words make no other sentence."""
        words = sorted(set(_WORD.findall(answer.casefold())))
        return hashlib.sha256(" ".join(words).encode()).hexdigest()[:32]


def _words(sentence: str) -> int:
    return max(len(sentence.split()), len(_UNSPACED.findall(sentence)) // 2)


def _is_gibberish(sentence: str) -> bool:
    """Letters that are no sentence in any language: keys in a row, one word again and again, mostly other signs."""
    signs = [sign for sign in sentence if not sign.isspace()]
    letters = sum(unicodedata.category(sign)[0] in "LM" for sign in signs)
    words = sentence.casefold().split()
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", sentence.casefold()) if sign.isascii())
    latin = _LATIN.findall(plain)
    return (
        letters < 0.6 * len(signs)
        or _SAME_LETTER.search(sentence.casefold()) is not None
        or (len(words) >= LEAST_WORDS and 2 * len(set(words)) <= len(words))
        or (len(latin) > 1 and 2 * sum(map(_is_no_word, latin)) > len(latin))
    )


def _is_no_word(word: str) -> bool:
    """Of four plain letters or more: no vowel, or neighbours on the keyboard."""
    return not set(word) & set("aeiouy") or any(word in keys or word[::-1] in keys for keys in _KEYS)
