"""Sending questions to an OpenAI-compatible endpoint: the address, the key and where it may go, and the request.

Images are sent as endpoints take them: PNG, JPEG, GIF or WebP, and no larger than one wants to pay for.
"""

from __future__ import annotations

import base64
import io
import ipaddress
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sacrecap.data.thumbnails import check_pillow, thumbnail
from sacrecap.errors import DataError, UsageError, of_extra, option
from sacrecap.resources.replies import Reply, received

if TYPE_CHECKING:
    from sacrecap.resources.endpoint import Endpoint, Question

PROVIDER = "api.openai.com"
"""The host that OPENAI_API_KEY belongs to."""
_reading = threading.Lock()
"""Members of a tar file are read one at a time."""
SENT = ("png", "gif", "webp", "jpeg")
"""Formats of images that endpoints take; the others are sent as PNG."""
_BEGINNINGS = {
    b"\x89PNG": "png",
    b"GIF8": "gif",
    b"RIFF": "webp",
    b"\xff\xd8": "jpeg",
    b"BM": "bmp",
    b"II*\0": "tiff",
    b"MM\0*": "tiff",
}


def kind_of(content: bytes) -> str | None:
    """The format of an image file, by its first bytes; None for one that is not sent."""
    kind = next((kind for start, kind in _BEGINNINGS.items() if content.startswith(start)), None)
    return None if kind == "webp" and content[8:12] != b"WEBP" else kind


def sendable(content: bytes, name: str, side: int | None) -> bytes:
    """The file as it is sent: converted, if endpoints do not take its format; made smaller, if a side is longer.

    Raises:
        DataError: it is broken, and has to be converted or made smaller; the message begins with its name.
        MissingDependencyError: the same, and Pillow is not installed.
    """
    kind = kind_of(content)
    if kind in SENT and (side is None or max(_size(content, name)) <= side):
        return content
    return thumbnail(content, name, side or 1 << 20, kind="JPEG" if kind == "jpeg" else "PNG")


def _size(content: bytes, name: str) -> tuple[int, int]:
    check_pillow()
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content)) as image:
            return image.size  # type: ignore[no-any-return]
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"{name}: cannot be read: {error}") from None


class Connection:
    """A client with the key and nothing else of the environment.

    Raises:
        MissingDependencyError: a package of the extra `judge` is not installed.
        UsageError: see `key_for`.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        with of_extra("judge", "asking a language model"):
            import httpx2
        self._endpoint = endpoint
        self._key = key_for(endpoint.url, endpoint.key_env)

        def signed(request: Any) -> Any:
            if self._key is not None:
                request.headers["authorization"] = f"Bearer {self._key}"
            return request

        self._client = httpx2.Client(
            timeout=endpoint.timeout,
            headers={"user-agent": "sacrecap"},
            auth=signed,  # in the place of a .netrc
            trust_env=not endpoint.url.startswith("http:"),  # a proxy would get what is sent to this machine in clear
            limits=httpx2.Limits(max_connections=endpoint.at_once),
        )

    def close(self) -> None:
        """Ends what is under way."""
        self._client.close()

    def post(self, question: Question, parameters: Mapping[str, Any]) -> Reply:
        """What is replied to a question that is asked with these parameters."""
        import httpx2

        content: str | list[dict[str, Any]] = question.text
        if question.images:
            try:
                files = [
                    sendable(read_image(image), name_of(image), self._endpoint.image_size) for image in question.images
                ]
            except DataError as error:
                return Reply("unfit", str(error))
            urls = [f"data:image/{kind_of(file)};base64,{base64.b64encode(file).decode()}" for file in files]
            pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
            content = [*pictures, {"type": "text", "text": question.text}]
        body = {"model": self._endpoint.model, "messages": [{"role": "user", "content": content}], **parameters}
        try:
            response = self._client.post(f"{self._endpoint.url}/chat/completions", json=body)
        except httpx2.TransportError as error:
            cause = "no answer in time" if isinstance(error, httpx2.TimeoutException) else "Connection error"
            return Reply("down", f"{cause}: {error}")
        except httpx2.DecodingError as error:
            return Reply("odd", str(error), 200)
        headers, tokens_in = response.headers, question.expected_tokens[0]
        return received(response.status_code, headers, response.content, now=time.time(), tokens_in=tokens_in)

    def clean(self, words: str) -> str:
        """Words of others on one line, without the key."""
        text = " ".join(words.split())[:300]
        return text.replace(self._key, "…") if self._key else text


def read_image(image: Callable[[], bytes]) -> bytes:
    """The file of an image."""
    with _reading:
        return image()


def name_of(image: Callable[[], bytes]) -> str:
    """The name of an image's file, in messages."""
    return str(getattr(getattr(image, "__self__", None), "name", "an image"))


def checked_url(url: str) -> str:
    """The address without a slash at its end. Raises `UsageError` for one that is no server's, or has a key in it."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"the address of a model begins with http:// or https://, got {url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            f"the address of a model at {parts.hostname} has a name, a key or a question in it; give the key in a "
            f"variable of the environment, with {option('key_env', 'NAME', flag='--judge-key-env')}"
        )
    return url.rstrip("/")


def key_for(url: str, key_env: str | None = None) -> str | None:
    """The key for an endpoint, of this variable; None for one that gets none.

    Raises `UsageError` for a variable that is not set, and for a key that would go over plain http.
    """
    parts = urlsplit(url)
    name = key_env or ("OPENAI_API_KEY" if parts.hostname == PROVIDER else None)
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(f"{url} needs a key, and the variable {name} is not set; set it to the key")
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise UsageError(
            f"the key of {name} would go to {parts.hostname} over plain http, where others can read it; give an "
            "address that begins with https://"
        )
    return key


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
