"""Embeddings that have a name: fetched by gensim's downloader into the user's cache folder."""

from __future__ import annotations

import os

from sacrecap.data.places import in_cache
from sacrecap.errors import DataError, did_you_mean, of_extra

NAMES = (
    "conceptnet-numberbatch-17-06-300",
    "fasttext-wiki-news-subwords-300",
    "glove-twitter-25",
    "glove-twitter-50",
    "glove-twitter-100",
    "glove-twitter-200",
    "glove-wiki-gigaword-50",
    "glove-wiki-gigaword-100",
    "glove-wiki-gigaword-200",
    "glove-wiki-gigaword-300",
    "word2vec-google-news-300",
)
"""English word vectors that gensim's downloader offers."""


def unknown(source: str) -> DataError:
    """The error for a text that is neither a file nor a name."""
    names = ("default", *NAMES)
    return DataError(
        f"{source}: no such file of word vectors, and no such name{did_you_mean(source, names)}; "
        f"names: {', '.join(names)}"
    )


def folder() -> str:
    """The folder of fetched files: it has a subfolder for each name, with NAME.gz."""
    return in_cache("embeddings")


def fetch(name: str) -> str:
    """The file of the name, downloaded unless it is there, in our cache folder or in gensim's.

    Raises:
        MissingDependencyError: gensim is not installed; the message says which file to fetch by hand.
        DataError: the file cannot be fetched; the message says the same.
    """
    gensim_folder = os.environ.get("GENSIM_DATA_DIR", os.path.expanduser("~/gensim-data"))
    for place in (folder(), gensim_folder):
        path = _place(place, name)
        if os.path.exists(path):
            return path
    return _download(name)


def _by_hand(name: str) -> str:
    url = f"https://github.com/piskvorky/gensim-data/releases/download/{name}/{name}.gz"
    return f"fetch {url} and put it at {_place(folder(), name)}"


def _download(name: str) -> str:
    import contextlib
    import logging
    import sys

    with of_extra("gensim", f"fetching {name} (or else {_by_hand(name)})"):
        from gensim import downloader
    try:
        os.makedirs(folder(), exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{name}: {folder()!r} cannot be written: {error}; choose another place by XDG_CACHE_HOME"
        ) from None
    # For all errors of gensim the remedy is the same, and we say it once: gensim's log would show a traceback.
    logging.getLogger(downloader.__name__).disabled = True
    downloader.BASE_DIR = folder()
    try:
        with contextlib.ExitStack() as stack:
            # gensim draws its bar on standard output, which is for our data.
            quiet = sys.stderr if sys.stderr.isatty() else stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(quiet))
            downloader.load(name, return_path=True)
    except Exception as error:  # noqa: BLE001
        raise DataError(f"{name}: cannot be fetched ({error}); {_by_hand(name)}") from None
    path = _place(folder(), name)
    if not os.path.exists(path):
        raise DataError(f"{name}: the download left no file {path}; {_by_hand(name)}")
    return path


def _place(folder: str, name: str) -> str:
    return os.path.join(folder, name, f"{name}.gz")
