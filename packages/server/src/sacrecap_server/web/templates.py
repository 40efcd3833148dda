"""Templates, how they write numbers, times and contacts, the files beside them, and the language of pages.

Languages are those of the catalogues in `locale/`. Annotators' pages are in their study's, with its owner's own words;
the owner's are English.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from sacrecap_studies.messages import Message


def moment(value: dt.datetime | None) -> Markup:
    """A time to the minute, in UTC, that does not break over lines."""
    text = "–" if value is None else f"{value.astimezone(dt.timezone.utc):%Y-%m-%d %H:%M} UTC"
    return Markup("<time>{}</time>").format(text)


@cache
def templates(folder: Path) -> Environment:
    """The templates of a folder, which have `_`, `ngettext` and `translated` in the language of each page.

    They depend on no setting: the servers of one process share them, compiled once.
    """
    environment = Environment(
        loader=FileSystemLoader(folder),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.install_gettext_callables(_pattern, _pattern, newstyle=True)  # type: ignore[attr-defined]
    environment.filters.update(moment=moment, count="{:,}".format, translated=_translated)
    # A contact as a link's target: an address of a page stays, an e-mail address is written to.
    environment.filters["link"] = lambda to: to if to.startswith(("https://", "http://")) else f"mailto:{to}"
    environment.tests["email_address"] = lambda text: _EMAIL.fullmatch(text) is not None
    return environment


class _Sheets(StaticFiles):
    """Browsers ask each time whether what they have is still right."""

    def file_response(self, *file: Any, **how: Any) -> Response:
        response = super().file_response(*file, **how)
        response.headers["Cache-Control"] = "no-cache"
        return response


PACKAGE = Path(__file__).parents[1]
STATIC = Mount("/static", _Sheets(directory=PACKAGE / "static"))
CATALOGUES = PACKAGE / "locale"
_LANGUAGES = frozenset(["en", *(path.stem for path in CATALOGUES.glob("*.mo"))])
_EMAIL = re.compile(r"[^@\s<>\"',;:()\[\]?&%]+@[A-Za-z0-9.-]+")
_PLACE = re.compile(r"%\((\w+)\)")
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

    def gettext(self, message: str, plural: str = "", number: int = 1) -> str:
        """The message in this language, in the form for the number; the same message where there is no translation."""
        if own_words := self.words(message if number == 1 else plural):
            return own_words
        if plural:
            return _catalogue(self.tag).ngettext(message, plural, number)
        # A catalogue has its own head under the empty message.
        return _catalogue(self.tag).gettext(message) if message else ""

    def pattern(self, message: str, plural: str = "", number: int = 1) -> str:
        """The same as templates take it: as a pattern, and as markup, in which the owner's words are only text."""
        form = message if number == 1 else plural
        if own_words := self.words(form):
            text = str(escape(own_words))
            return text if _PLACE.search(form) else text.replace("%", "%%")
        return self.gettext(message, plural, number)

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
        if liked > most and tag in _LANGUAGES:
            best, most = tag, liked
    return Language(best)


@cache
def _catalogue(tag: str) -> NullTranslations:
    path = CATALOGUES / f"{tag.lower().split('-')[0]}.mo"
    if not path.name[:-3].isalpha() or not path.is_file():
        return NullTranslations()
    with path.open("rb") as file:
        return GNUTranslations(file)


@pass_context
def _pattern(context: Context, message: str, plural: str = "", number: int = 1) -> str:
    language: Language = context["language"]
    return language.pattern(message, plural, number)


@pass_context
def _translated(context: Context, message: str) -> str:
    """A text that is ours unless the owner wrote one: never a pattern, so a `%` in it is only a `%`."""
    language: Language = context["language"]
    return language.translate(message)


@lru_cache(maxsize=64)
def macros(environment: Environment, tag: str) -> dict[str, Any]:
    """The macros of a language, under the name of their template."""
    return {"forms": environment.get_template("forms.html").make_module({"language": Language(tag)})}
