"""Old module names, which keep working for one release with a warning that names the new one.

Remove this file, and its line in `capeval/__init__.py`, in 0.3.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from capeval.errors import warn

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # the base class adds nothing here, and importing it takes longer than all of this package

MOVED = {
    "capeval.alignment": "capeval.metrics.meteor.alignment",
    "capeval.caption_sets": "capeval.scoring.diversity",
    "capeval.captioning": "capeval_captioning",
    "capeval.captioning.decoding": "capeval_captioning.decoding.search",
    "capeval.captioning.generation": "capeval_captioning.decoding.generation",
    "capeval.captioning.images": "capeval_captioning.data.images",
    "capeval.captioning.mixture": "capeval_captioning.training.mixture",
    "capeval.captioning.scenes": "capeval_captioning.data.scenes",
    "capeval.captioning.sets": "capeval_captioning.decoding.sets",
    "capeval.captioning.settings": "capeval_captioning.training.settings",
    "capeval.captioning.training": "capeval_captioning.training.training",
    "capeval.captioning.vocabulary": "capeval_captioning.data.vocabulary",
    "capeval.comparison": "capeval.scoring.comparison",
    "capeval.document_frequency": "capeval.corpus.document_frequency",
    "capeval.embeddings": "capeval.resources.embeddings",
    "capeval.evaluate": "capeval.scoring.score",
    "capeval.explanation": "capeval.metrics.vifidel.explanation",
    "capeval.human": "capeval_studies",
    "capeval.registry": "capeval.metrics.registry",
    "capeval.result": "capeval.scoring.result",
    "capeval.server": "capeval_server",
    "capeval.server.app": "capeval_server.web.app",
    "capeval.server.settings": "capeval_server.web.settings",
    "capeval.set_result": "capeval.scoring.diversity_result",
    "capeval.significance": "capeval.scoring.compare",
    "capeval.study": "capeval.judgments",
    "capeval.reward": "capeval.rewards",
    "capeval.reward.device": "capeval.rewards.device",
    "capeval.reward.host": "capeval.rewards.host",
    "capeval.torch": "capeval.rewards.device",
}
"""New module names by old ones. The modules of a package move with it, unless they are listed themselves."""


def new_name(old: str) -> str | None:
    """The current name of a module; None if it has not moved."""
    package, rest = old, ""
    while package:
        if package in MOVED:
            return MOVED[package] + rest
        package, dot, last = package.rpartition(".")
        rest = dot + last + rest
    return None


class _Moved(Loader):
    """The last of the finders, so it is asked only for modules that no longer exist."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("capeval.") or new_name(fullname) is None:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """None: the import system makes the module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        new = new_name(module.__name__) or ""
        warn(f"{module.__name__} is {new} now; the old name works for one more release", FutureWarning)
        moved = import_module(new)
        if hasattr(moved, "__path__"):
            # The import system sets what is imported from a package as its attributes. A package's old name keeps a
            # module of its own for them: the old `captioning.training` must not hide the new package of that name.
            module.__dict__["__getattr__"] = partial(getattr, moved)
        else:
            # The import system takes what is in sys.modules after this call: the module itself, not a copy of it.
            sys.modules[module.__name__] = moved


def keep_old_names() -> None:
    """Lets the old names be imported."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.append(_Moved())
