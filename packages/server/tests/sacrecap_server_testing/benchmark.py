"""A benchmark of the example data, and teams that submit to it."""

from __future__ import annotations

import json

from httpx2 import Response

from sacrecap import example
from sacrecap_server.accounts.access import Role
from sacrecap_server_testing.world import World

REFERENCES_PATH = example.references_path()
REFERENCES = REFERENCES_PATH.read_bytes()
SYSTEMS = {name: example.system_path(name).read_bytes() for name in ("careful", "plain", "template")}
METRICS = "cider-d, bleu-4, rouge-l"


def as_list(system: str) -> list[dict[str, object]]:
    """The system's captions as COCO results."""
    return [{"image_id": image, "caption": caption} for image, caption in json.loads(SYSTEMS[system]).items()]


def make(world: World, *, second: bytes = b"", **changes: object) -> None:
    """The organiser's benchmark `ours`; `second` are its second references."""
    fields = {"slug": "ours", "title": "Our benchmark", "metrics": METRICS, "board": "public", "own_scores": "yes"}
    made = world.browser(Role.ORGANISER).post(
        "/benchmarks/new",
        files={"references": ("references.json", REFERENCES), "second": ("second.json", second)},
        **{**fields, **changes},
    )
    assert made.status_code == 303, made.text


def submit(
    world: World, data: bytes, *, role: Role = Role.MEMBER, system: str = "A system", name: str = "a.json"
) -> Response:
    """Sends a file of the role's team, as the form does."""
    return world.browser(role).post("/benchmarks/ours/submit", files={"file": (name, data)}, system=system)


def submitted(world: World, system: str, *, role: Role = Role.MEMBER) -> int:
    """The number of the submission of a system of the example."""
    answer = submit(world, SYSTEMS[system], role=role, system=system)
    assert answer.status_code == 303, answer.text
    return int(answer.headers["location"].split("/")[-1])
