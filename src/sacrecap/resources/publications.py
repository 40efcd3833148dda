"""Publications to cite: BibTeX entries of sacrecap and of its metrics."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

FILE = "publications.bib"
SOFTWARE = "sacrecap"
"""Key of the software itself."""


class Publication(NamedTuple):
    """A BibTeX entry."""

    kind: str
    """`inproceedings`, `article`, `misc`, …"""
    key: str
    fields: dict[str, str]
    """As they stand in the entry, without the braces around each."""

    def to_bibtex(self) -> str:
        """The entry, a field per line."""
        fields = ",\n".join(f"  {name} = {{{value}}}" for name, value in self.fields.items())
        return f"@{self.kind}{{{self.key},\n{fields}\n}}"

    def to_text(self) -> str:
        """Authors, title, where and when it appeared, and its address, in plain text."""
        tex = re.compile(r"[{}]")
        says = {name: tex.sub("", v.replace(r"{\'a}", "á").replace("--", "–")) for name, v in self.fields.items()}
        authors = [" ".join(name.split(", ", 1)[::-1]) for name in says.get("author", "").split(" and ") if name]
        venues = ("journal", "booktitle", "institution", "howpublished", "note")
        where = next((says[name] for name in venues if name in says), "")
        pages = f"pages {says['pages']}" if "pages" in says else ""
        details = [where, says.get("number", ""), says.get("year", ""), pages]
        address = f"https://doi.org/{self.fields['doi']}" if "doi" in self.fields else self.fields.get("url", "")
        parts = [", ".join(authors), says.get("title", self.key), ", ".join(filter(None, details)), address]
        return ". ".join(filter(None, parts))


def read_bibtex(text: str) -> list[Publication]:
    """The entries of a BibTeX text whose values stand in braces or quotes, or are numbers.

    Raises `ValueError` for what is not such a text.
    """
    read, place = [], 0
    while text[place:].strip():
        start = re.compile(r"\s*@\s*(\w+)\s*\{\s*([^\s,{}]+)\s*,").match(text, place)
        if start is None:
            raise ValueError(f"not the start of a BibTeX entry, as @article{{key, …: {text[place:].strip()[:40]!r}")
        place, fields = start.end(), {}
        while (end := re.compile(r"\s*,?\s*\}").match(text, place)) is None:
            field = re.compile(r"\s*(\w+)\s*=\s*").match(text, place)
            if field is None:
                raise ValueError(f"{start[2]}: not a field, as title = {{…}}: {text[place:].strip()[:40]!r}")
            fields[field[1].lower()], place = _value(text, field.end(), start[2])
            comma = re.compile(r"\s*,").match(text, place)
            place = place if comma is None else comma.end()
        place = end.end()
        read.append(Publication(start[1].lower(), start[2], fields))
    return read


@cache
def publications() -> dict[str, Publication]:
    """The publications of sacrecap and its metrics, by key."""
    text = files("sacrecap.resources").joinpath(FILE).read_text(encoding="utf-8")
    return {entry.key: entry for entry in read_bibtex(text)}


def _value(text: str, place: int, key: str) -> tuple[str, int]:
    """A field's value, without what it stands in, and the place behind it."""
    if text[place : place + 1] == '"':
        end = text.find('"', place + 1)
        if end > 0:
            return text[place + 1 : end], end + 1
    elif text[place : place + 1] == "{":
        depth = 0
        for here in range(place, len(text)):
            depth += {"{": 1, "}": -1}.get(text[here], 0)
            if depth == 0:
                return " ".join(text[place + 1 : here].split()), here + 1
    elif number := re.compile(r"\d+").match(text, place):
        return number[0], number.end()
    raise ValueError(f"{key}: not a value in braces or quotes, nor a number: {text[place : place + 40]!r}")
