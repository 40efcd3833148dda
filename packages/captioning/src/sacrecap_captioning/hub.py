"""Parts of checkpoints of transformers, from a folder or the hub. Code in them is never run."""

from __future__ import annotations

import logging
import os
from functools import partial
from typing import Any

from safetensors import SafetensorError

from sacrecap.errors import DataError


def load_part(factory: Any, name: str, kind: str, files: str, **options: Any) -> Any:
    """Part of a checkpoint: from its folder or the user's cache, else from the hub.

    Args:
        factory: one of the library's `Auto…` classes.
        name: a folder, or owner/name on the hub.
        kind: what the checkpoint is, for messages: `image-to-text`.
        files: what it consists of, for messages.
        **options: for the class's `from_pretrained`.

    Raises:
        DataError: it cannot be loaded; the message says which files it needs.
    """
    factory = partial(factory.from_pretrained, **options)
    said = kind, files
    if os.path.isdir(name):
        return _attempt(factory, name, *said, local=True)
    hub = logging.getLogger("huggingface_hub")
    level = hub.level
    hub.setLevel(logging.CRITICAL)  # it logs each try; the error says what came of them
    try:
        return _attempt(factory, name, *said, local=True)
    except DataError:
        return _attempt(factory, name, *said, local=False)
    finally:
        hub.setLevel(level)


def _attempt(factory: Any, name: str, kind: str, files: str, *, local: bool) -> Any:
    try:
        return factory(name, local_files_only=local)
    except ModuleNotFoundError:
        raise
    except (ImportError, OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:300]
    if os.path.isdir(name):
        remedy = f"it needs {files}"
    else:
        remedy = f"download the files of https://huggingface.co/{name} into a folder ({files}) and give the folder"
    raise DataError(f"{name}: no {kind} checkpoint could be loaded ({reason}); {remedy}")
