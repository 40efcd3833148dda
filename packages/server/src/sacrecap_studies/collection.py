"""Collecting sentences (CIDEr: Vedantam et al., 2015, section 4): one person, one image, one description."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap_studies.fields import Fields
from sacrecap_studies.kinds import AnswerError, Content, StudyKind

LEAST_WORDS = 4
MOST_CHARACTERS = 500

_WORD = re.compile(r"[^\W\d_]+")
# Scripts that put no blanks between words: Thai to Khmer, kana, Chinese characters. A word has about two letters.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z]{4,}")
_SAME_LETTER = re.compile(r"([^\W\d_])\1{3}")
_KEYS = ("qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")


class CollectionStudy(StudyKind):
    """Describe what is going on in the image."""

    name = "collection"
    title = "Describe images"
    question = "Describe what is going on in the image."
    instructions = (
        "You will see an image. Describe what is going on in it, in one sentence. Be objective: say only what can be "
        "seen. Give the main aspects, as others would say them, so that somebody could tell this image from similar "
        "ones. Write no dialogue, and do not tell what the people may think or feel. Sentences of poor grammar are "
        "rejected."
    )
    judgments = 50
    seconds = 6.0
    template = "collection"
    shows_image = True

    def contents(self, item: Fields) -> list[Content]:
        return [{"image_id": item.name("image_id")}]

    def check(self, item: Fields) -> tuple[Content, Any]:
        """The known answer: words of which the sentence has at least one."""
        return {"image_id": item.name("image_id")}, [word.lower() for word in item.texts("answer")]

    def read(self, _: Content, form: Mapping[str, str], order: Sequence[int]) -> str:  # noqa: ARG002
        sentence = " ".join(form.get("sentence", "").split())
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

    def is_correct(self, expected: Any, answer: Any) -> bool:
        return any(word in answer.lower() for word in expected)

    def luck(self, expected: Any) -> float:  # noqa: ARG002
        """A guess: sentences that do not look at the image have one of its telling words now and then."""
        return 0.1

    def explain(self, content: Content, expected: Any) -> list[str]:  # noqa: ARG002
        return [", ".join(expected)]

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
