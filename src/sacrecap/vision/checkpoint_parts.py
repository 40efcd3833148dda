"""Parts of transformers' checkpoints, from a folder, the hub's cache or the hub. Code in them is never run."""

from __future__ import annotations

import os
from typing import Any

from sacrecap.errors import DataError


def load_part(factory: Any, name: str, *, what: str, files: str, **options: Any) -> Any:
    """What a class of transformers makes of a folder or a name on the hub, whose cache is asked before the network.

    Messages call it `what`, and say which `files` it must have. Raises `DataError`, which says what was tried.
    """
    from safetensors import SafetensorError
    from transformers.utils import logging

    is_folder = os.path.isdir(name)
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()  # type: ignore[no-untyped-call, unused-ignore]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call, unused-ignore]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call, unused-ignore]
    try:
        for local in (True,) if is_folder else (True, False):
            try:
                return factory.from_pretrained(name, local_files_only=local, trust_remote_code=False, **options)
            except (OSError, ValueError, KeyError, RuntimeError, TypeError, SafetensorError) as error:
                reason = " ".join(str(error).split())[:300]
    finally:  # until here, transformers' own progress and remarks were off
        logging.set_verbosity(level)  # type: ignore[no-untyped-call, unused-ignore]
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call, unused-ignore]
    if is_folder:
        tried, remedy = "", f"it needs {files}, as save_pretrained writes them"
    else:
        tried = "neither in the hub's cache nor by the network "
        needed = files.replace(" and ", ", ")
        remedy = f"download the files of https://huggingface.co/{name} into a folder ({needed}) and give the folder"
    raise DataError(f"{name}: no {what} could be loaded {tried}({reason}); {remedy}")
