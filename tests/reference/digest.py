"""Digests of rows, slowly: see `rust/core/src/text/captions.rs`."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

_MASK = 2**32 - 1


def digest(rows: Iterable[tuple[str, str]]) -> int:
    """The sum of the mixed CRC-32 of `key NUL text`, over rows."""
    return sum(_mixed(zlib.crc32(f"{key}\0{text if text.strip() else ''}".encode())) for key, text in rows) & _MASK


def _mixed(hash_: int) -> int:
    """The last step of MurmurHash3."""
    hash_ = (hash_ ^ hash_ >> 16) * 0x85EBCA6B & _MASK
    hash_ = (hash_ ^ hash_ >> 13) * 0xC2B2AE35 & _MASK
    return hash_ ^ hash_ >> 16
