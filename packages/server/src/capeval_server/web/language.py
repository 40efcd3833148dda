"""The language of annotators' pages: their study's, by the catalogues in `locale/` and its owner's own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any

from jinja2 import Environment, pass_context
from jinja2.runtime import Context

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

    @property
    def direction(self) -> str:
        """`ltr` or `rtl`: by the script where the tag has one, otherwise by the language."""
        language, *rest = self.tag.lower().split("-")
        script = next((part for part in rest if len(part) == 4 and part.isalpha()), None)
        is_right = script in _RIGHT_TO_LEFT_SCRIPTS if script else language in _RIGHT_TO_LEFT
        return "rtl" if is_right else "ltr"

    def gettext(self, message: str) -> str:
        """The message in this language; the same message where there is no translation."""
        # A catalogue has its own head under the empty message.
        return self.texts.get(message) or (_catalogue(self.tag).gettext(message) if message else "")

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        """The form of the message that goes with the number."""
        own = self.texts.get(singular if number == 1 else plural)
        return own or _catalogue(self.tag).ngettext(singular, plural, number)


ENGLISH = Language()


def mark(message: str) -> str:
    """The message as it is: says to the maker of catalogues that pages translate it later."""
    return message


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
    return _of(context).gettext(message)


@pass_context
def _ngettext(context: Context, singular: str, plural: str, number: int) -> str:
    return _of(context).ngettext(singular, plural, number)


@pass_context
def _translated(context: Context, message: str) -> str:
    """A text that is ours unless the owner wrote one: never a pattern, so a `%` in it is only a `%`."""
    return _of(context).gettext(message)
