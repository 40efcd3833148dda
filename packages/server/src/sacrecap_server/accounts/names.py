"""Names that people see: without letters that cannot be seen, and none that looks like another."""

from __future__ import annotations

import hashlib
import unicodedata
from functools import cache

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from sacrecap_server.store.models import Team
from sacrecap_studies.messages import Message

_LONGEST_KEY = 160
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Characters that show nothing although Unicode calls them letters, marks or symbols."""
_MOST_MARKS = 3
"""Marks on one letter; more would reach into the lines above and below."""


def tidy(name: str) -> str:
    """The name in Unicode's normal form C, with single blanks."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def problem_with(name: str, what: str, *, least: int = 1, most: int = 80) -> str | None:
    """Explains why a tidy name is refused; `what` it names goes into the sentence ("team")."""
    if not least <= len(name) <= most:
        return Message(
            "The %(what)s needs a name of %(least)s to %(most)s characters.", what=Message(what), least=least, most=most
        )
    if problem := unseen(name, "name"):
        return problem
    if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
        return Message("The name needs a letter or a digit.")
    marks = 0
    for letter in name:
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        if marks > _MOST_MARKS:
            return Message("The name has more than %(most)s marks on one letter.", most=_MOST_MARKS)
    return None


def unseen(text: str, what: str) -> str | None:
    """Explains why a line is refused that has a character that nobody sees."""
    letter = next((letter for letter in text if _is_unseen(letter)), None)
    if letter is None:
        return None
    called = unicodedata.name(letter, f"U+{ord(letter):04X}")
    return Message(
        "The %(what)s has a character that cannot be seen (%(letter)s). Type it again without that character.",
        what=Message(what),
        letter=called,
    )


def visible(text: str) -> str:
    """The text without the characters that nobody sees."""
    return "".join(letter for letter in text if not _is_unseen(letter))


def _is_unseen(letter: str) -> bool:
    """Control characters, direction changes, joiners, variation selectors, what has no meaning or no shape."""
    category = unicodedata.category(letter)
    variation = 0xFE00 <= ord(letter) <= 0xFE0F or 0xE0100 <= ord(letter) <= 0xE01EF
    return category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or variation or letter in _BLANK


def keys(name: str) -> tuple[str, str]:
    """`name_key` and `look_key` of a name. Two names look alike where they have one of these in common.

    Two, because letters can look alike as capitals and not otherwise: the Cyrillic ТЕАМ is TEAM, its small letters
    are not. Blanks and punctuation tell no names apart: "Team-A." is "team a".
    """
    plain = unicodedata.normalize("NFKC", tidy(name))
    plain = "".join(letter for letter in plain if unicodedata.category(letter)[0] in "LNM")
    return _short(_skeleton(plain.casefold())), _short(_skeleton(_skeleton(plain).casefold()))


def like(session: Session, name: str) -> Team | None:
    """The team whose name cannot be told from this one."""
    wanted = keys(name)
    alike = or_(Team.name_key.in_(wanted), Team.look_key.in_(wanted))
    return session.execute(select(Team).where(alike).order_by(Team.id).limit(1)).scalar_one_or_none()


def problems_with_team(session: Session, name: str, affiliation: str = "") -> list[str]:
    """Why a new team cannot have this tidy name and affiliation; empty if it can."""
    problems = [problem_with(name, "team", least=2), unseen(affiliation, "affiliation")]
    if any(problems):
        return [problem for problem in problems if problem]
    other = like(session, name)
    if other is None:
        return []
    if other.name == name:
        return [Message("A team of that name exists. To join it, ask a member for an invitation.")]
    return [
        Message(
            "The name looks like that of the team “%(team)s”. Choose one that people can tell from it; to join that "
            "team, ask a member for an invitation.",
            team=other.name,
        )
    ]


def _skeleton(text: str) -> str:
    """The text with each letter replaced by the one that Unicode (TR39) gives for all that look like it."""
    table = _prototypes()
    seen = "".join(table.get(letter, letter) for letter in unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFD", seen)


@cache
def _prototypes() -> dict[str, str]:
    """Each letter that looks like something else, and that.

    The library lists both directions: beside what stands for several letters, all of them; beside each of those, only
    what stands for it.
    """
    from confusable_homoglyphs.confusables import confusables_data  # type: ignore[import-untyped]

    listed = {_bare(key): [_bare(each["c"]) for each in entries] for key, entries in confusables_data.items()}
    found = {}
    for letter, others in listed.items():
        if len(letter) != 1 or len(others) != 1:
            continue
        other = others[0]
        # If two are alike only to each other, the longer one, or the earlier one in Unicode, represents both.
        if len(listed.get(other, ())) > 1 or (-len(other), other) < (-1, letter):
            found[letter] = other
    return found


def _bare(text: str) -> str:
    """Without the marks of direction by which the library's file shows right-to-left letters."""
    return text.replace("\u200e", "")


def _short(key: str) -> str:
    """The key as the column takes it: some letters become several."""
    return key if len(key) <= _LONGEST_KEY else hashlib.sha256(key.encode()).hexdigest()
