"""What a study's file says about where its people come from and how they leave: platform, links, codes, contact."""

from __future__ import annotations

from typing import Any

from sacrecap_studies.fields import Fields, flag, link

PLATFORMS = ("prolific", "mturk")
ENDINGS = ("screened_out", "no_consent", "partial")
"""Ways to leave besides completion, each with a code and an address of its own."""


def read_crowd(fields: Fields, completion: Fields) -> dict[str, Any]:
    """The settings, by name; `completion` is the field of that name, of which this reads the endings."""
    platform = fields.one_of("platform", PLATFORMS, "")
    signed = fields.optional("signed_links", flag, default=False)
    if signed and platform != "prolific":
        fields.wrong("signed_links", "only Prolific signs its links; set platform to 'prolific', or use personal_links")
    return {
        "platform": platform,
        "signed_links": signed,
        "personal_links": fields.optional("personal_links", flag, default=False),
        "contact": fields.text("contact", "", most=300),
        "endings": {name: _ending(completion, name) for name in ENDINGS},
    }


def _ending(completion: Fields, name: str) -> dict[str, str]:
    fields = Fields(completion.take(name) or {}, f"completion.{name}", completion.problems)
    read = {"code": fields.text("code", "", most=60), "url": fields.optional("url", link, "")}
    fields.end()
    return read
