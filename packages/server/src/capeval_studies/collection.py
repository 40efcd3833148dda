"""Collecting sentences (CIDEr: Vedantam et al., 2015, section 4): one person, one image, one description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capeval_studies.fields import Fields
from capeval_studies.kinds import AnswerError, Content, StudyKind

LEAST_WORDS = 4
MOST_CHARACTERS = 500


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
    template = "collection"
    shows_image = True

    def contents(self, item: Fields) -> list[Content]:
        return [{"image_id": item.name("image_id")}]

    def check(self, item: Fields) -> tuple[Content, Any]:
        """The known answer: words of which the sentence has at least one."""
        return {"image_id": item.name("image_id")}, [word.lower() for word in item.texts("answer")]

    def read(self, _: Content, form: Mapping[str, str]) -> str:
        sentence = " ".join(form.get("sentence", "").split())
        if len(sentence) > MOST_CHARACTERS:
            raise AnswerError("One sentence, please: at most %(most)d characters.", most=MOST_CHARACTERS)
        if len(sentence.split()) < LEAST_WORDS:
            raise AnswerError("Write a whole sentence, of %(least)d words or more.", least=LEAST_WORDS)
        if any(mark in sentence for mark in '"“”«»'):
            raise AnswerError("No dialogue, please: say what can be seen, without quotation marks.")
        if sentence.isupper():
            raise AnswerError("Please do not write in capitals only.")
        return sentence

    def is_correct(self, expected: Any, answer: Any) -> bool:
        return any(word in answer.lower() for word in expected)
