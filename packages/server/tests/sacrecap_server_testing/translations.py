"""The catalogues of annotators' pages, which `python -m sacrecap_server_testing.translations` brings up to date.

It runs in the folder `packages/server/tests`, and needs Babel. New messages come into each `locale/*.po`, to be
translated there; run again, it compiles them. What is no longer asked for goes. The same catalogue compiles to the same
bytes anywhere.
"""

from __future__ import annotations

import io
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

import sacrecap_studies
from sacrecap_server.web.context import NOTICES
from sacrecap_server.web.templates import CATALOGUES, PACKAGE
from sacrecap_studies import KINDS
from sacrecap_studies.questions import Choice, Scale

_TEMPLATES = [("templates/*.html", "jinja2")]
_FILES = ("web/*.py", "pages/annotate.py", "studies/*.py", "store/database.py", "app.py", "errors.py", "questions.py")
_CODE = [(name, "python") for name in _FILES]
_KEYWORDS = {"AnswerError": None, "Message": None, "Refused": (2,), "gettext": None, "not_found": None}
_OPTIONS = {"templates/*.html": {"newstyle_gettext": "true", "trimmed": "true"}}


def wanted() -> Catalog:
    """Every message that pages can show, without translations."""
    catalog = Catalog(project="sacrecap-server", charset="utf-8")
    for message, place in _messages():
        catalog.add(message, locations=[(place, 0)])
    return catalog


def _messages() -> Iterator[tuple[str | tuple[str, ...], str]]:
    for _, _, message, _, _ in extract_from_dir(PACKAGE, _TEMPLATES, _OPTIONS):
        yield message, "templates"
    for folder in (PACKAGE, Path(sacrecap_studies.__file__).parent):
        for name, _, message, _, _ in extract_from_dir(folder, _CODE, keywords=_KEYWORDS):
            yield message, name
    for kind in KINDS.values():
        yield from ((text, "kinds") for text in (kind.title, kind.question, kind.instructions, *kind.advice))
        for one in kind.questions:
            others = (
                one.extra_choices.values() if isinstance(one, Choice) else one.labels if isinstance(one, Scale) else ()
            )
            yield from ((text, "kinds") for text in (one.text, *others) if text)
    yield from ((text, "words") for text in (NOTICES["too-late"], "best", "worst", "tie", "unsure"))


def read(path: Path) -> Catalog:
    """A catalogue in the package."""
    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


def updated(catalog: Catalog) -> Catalog:
    """The catalogue with every message that is wanted, in the order of their text, and with no other."""
    new = Catalog(locale=catalog.locale, project="sacrecap-server", charset="utf-8")
    for message in sorted((one for one in wanted() if one.id), key=lambda one: str(one.id)):
        known = catalog.get(message.id)
        new.add(message.id, known.string if known is not None else "")
    return new


def as_text(catalog: Catalog) -> bytes:
    """The file `….po`, without dates and places, which would change for no reason."""
    head = f'# Pages of sacrecap-server: {catalog.locale}.\nmsgid ""\nmsgstr ""\n'
    head += '"Content-Type: text/plain; charset=utf-8\\n"\n'
    head += f'"Language: {catalog.locale}\\n"\n"Plural-Forms: {catalog.plural_forms}\\n"\n'
    file = io.BytesIO()
    write_po(file, catalog, width=120, no_location=True, omit_header=True)
    return head.encode() + b"\n" + file.getvalue()


def compiled(catalog: Catalog) -> bytes:
    """The file `….mo`, as the GNU gettext manual describes it; Babel's has dates and Babel's version in its head."""
    head = f"Content-Type: text/plain; charset=utf-8\nLanguage: {catalog.locale}\n"
    texts = {"": f"{head}Plural-Forms: {catalog.plural_forms}\n"}
    texts |= {_joined(one.id): _joined(one.string) for one in catalog if one.id and one.string and not one.fuzzy}
    pairs = sorted((ours.encode(), theirs.encode()) for ours, theirs in texts.items())
    count = len(pairs)
    place, tables, data = 28 + 16 * count, [], b""
    for column in (0, 1):
        for pair in pairs:
            tables.append(struct.pack("<II", len(pair[column]), place + len(data)))
            data += pair[column] + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, 0) + b"".join(tables) + data


def _joined(text: str | tuple[str, ...]) -> str:
    return text if isinstance(text, str) else "\0".join(text)


def main() -> None:
    """Updates and compiles every catalogue, and says what is to be translated."""
    for path in sorted(CATALOGUES.glob("*.po")):
        catalog = updated(read(path))
        path.write_bytes(as_text(catalog))
        path.with_suffix(".mo").write_bytes(compiled(read(path)))
        missing = [message.id for message in catalog if message.id and not message.string]
        print(f"{path.name}: {len(catalog)} messages, {len(missing)} to translate", file=sys.stderr)


if __name__ == "__main__":
    main()
