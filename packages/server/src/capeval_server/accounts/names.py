"""Names that people see: tidied, and compared."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from capeval_server.store.models import Team


def tidy(name: str) -> str:
    """The name with single blanks."""
    return " ".join(name.split())


def problem_with(name: str, what: str, *, least: int = 1, most: int = 80) -> str | None:
    """Explains why a tidy name is refused; `what` it names goes into the sentence ("team")."""
    return None if least <= len(name) <= most else f"The {what} needs a name of {least} to {most} characters."


def unseen(text: str, what: str) -> str | None:
    """Explains why a line is refused that has a character that nobody sees."""
    return None if text.isprintable() else f"The {what} has a character that cannot be seen. Type it again without."


def keys(name: str) -> tuple[str, str]:
    """`name_key` and `look_key` of a name."""
    return name.casefold(), name.casefold()


def like(session: Session, name: str) -> Team | None:
    """The team whose name cannot be told from this one."""
    return session.execute(select(Team).where(Team.name_key == keys(name)[0])).scalar_one_or_none()
