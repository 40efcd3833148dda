"""The language of pages, by the catalogues in `locale/`.

Annotators' pages are in their study's, with its owner's own words; the owner's are English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any

from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markupsafe import escape

from sacrecap_studies.messages import Message

_PLACE = re.compile(r"%\((\w+)\)")
CATALOGUES = Path(__file__).parents[1] / "locale"
_RIGHT_TO_LEFT = frozenset(["ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"])
_RIGHT_TO_LEFT_SCRIPTS = frozenset(["adlm", "arab", "hebr", "nkoo", "rohg", "syrc", "thaa"])


@dataclass(frozen=True)
class Language:
    """A language of pages. Messages are known by their English text; what has no translation stays English."""

    tag: str = "en"
    """As BCP 47 writes it, such as `de` or `ar-EG`."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Words of the study's owner, by the English text that they replace."""

    writing: str = ""
    """`ltr` or `rtl`, where the owner says so."""

    @property
    def direction(self) -> str:
        """`ltr` or `rtl`: as the owner says, else by the script where the tag has one, else by the language."""
        if self.writing:
            return self.writing
        language, *rest = self.tag.lower().split("-")
        script = next((part for part in rest if len(part) == 4 and part.isalpha()), None)
        is_right = script in _RIGHT_TO_LEFT_SCRIPTS if script else language in _RIGHT_TO_LEFT
        return "rtl" if is_right else "ltr"

    def gettext(self, message: str) -> str:
        """The message in this language; the same message where there is no translation."""
        # A catalogue has its own head under the empty message.
        return self.words(message) or (_catalogue(self.tag).gettext(message) if message else "")

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        """The form of the message that goes with the number."""
        return self.words(singular if number == 1 else plural) or _catalogue(self.tag).ngettext(
            singular, plural, number
        )

    def translate(self, text: str) -> str:
        """The text in this language: where it has values, these in the message of this language."""
        if not isinstance(text, Message) or not text.values:
            return self.gettext(text)
        values = {
            name: self.translate(value) if isinstance(value, Message) else value for name, value in text.values.items()
        }
        return self.gettext(text.pattern) % values

    def words(self, message: str) -> str:
        """The owner's words for the message; empty if there are none, or they have places that the message lacks."""
        text = self.texts.get(message, "")
        if not text:
            return ""
        places = _PLACE.findall(message)
        try:
            return text if not places or text % dict.fromkeys(places, 0) else ""
        except (KeyError, TypeError, ValueError):
            return ""


ENGLISH = Language()


@lru_cache(maxsize=512)
def asked_for(header: str) -> Language:
    """The language that an `Accept-Language` likes best of those that pages can be in; English without any."""
    best, most = "en", 0.0
    for part in header.split(","):
        tag, _, quality = part.partition(";")
        tag, weight = tag.strip().lower().split("-")[0], re.fullmatch(r" *q=([01](?:\.\d{1,3})?) *", quality)
        liked = float(weight[1]) if weight else 0.0 if quality else 1.0
        if liked > most and (tag == "en" or tag in _languages()):
            best, most = tag, liked
    return Language(best)


@cache
def _languages() -> frozenset[str]:
    return frozenset(path.stem for path in CATALOGUES.glob("*.mo"))


@cache
def _catalogue(tag: str) -> NullTranslations:
    path = CATALOGUES / f"{tag.lower().split('-')[0]}.mo"
    if not path.name[:-3].isalpha() or not path.is_file():
        return NullTranslations()
    with path.open("rb") as file:
        return GNUTranslations(file)


def install(environment: Environment) -> None:
    """Gives templates `_`, `ngettext`, `{% trans %}` and the filter `translated`, in the language of each page."""
    environment.add_extension("jinja2.ext.i18n")
    environment.install_gettext_callables(_gettext, _ngettext, newstyle=True)  # type: ignore[attr-defined]
    environment.filters["translated"] = _translated


def _of(context: Context) -> Language:
    language: Any = context.get("language")
    return language if isinstance(language, Language) else ENGLISH


@pass_context
def _gettext(context: Context, message: str) -> str:
    language = _of(context)
    translated = language.words(message)
    return _pattern(message, translated) if translated else language.gettext(message)


@pass_context
def _ngettext(context: Context, singular: str, plural: str, number: int) -> str:
    language = _of(context)
    message = singular if number == 1 else plural
    translated = language.words(message)
    return _pattern(message, translated) if translated else language.ngettext(singular, plural, number)


def _pattern(message: str, translated: str) -> str:
    """The owner's words as templates take messages: as a pattern, and as markup, in which they are only text."""
    text = str(escape(translated))
    return text if _PLACE.search(message) else text.replace("%", "%%")


@pass_context
def _translated(context: Context, message: str) -> str:
    """A text that is ours unless the owner wrote one: never a pattern, so a `%` in it is only a `%`."""
    return _of(context).translate(message)


@lru_cache(maxsize=64)
def macros(environment: Environment, tag: str) -> dict[str, Any]:
    """The macros of a language, under the name of their template."""
    return {"forms": environment.get_template("forms.html").make_module({"language": Language(tag)})}
