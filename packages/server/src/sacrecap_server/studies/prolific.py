"""Links that Prolific has signed: its secure URL parameters.

Prolific adds `prolific_token` to the study's address: a JSON Web Token with the participant, the study and the session,
for this very address (https://docs.prolific.com, *Retrieve JSON Web Key Set*).
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

from joserfc.errors import JoseError

from sacrecap_server.accounts.published import Published

TOKEN = "prolific_token"  # noqa: S105
KEYS = "https://api.prolific.com/.well-known/study/jwks.json"
_ISSUER = "https://www.prolific.com"
_IDS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_LEEWAY = 60


class ProlificSignatures:
    """Checks tokens with Prolific's public keys, which are fetched when needed."""

    def __init__(self) -> None:
        self._published = Published()

    def ids(self, token: str, link: str) -> dict[str, str] | None:
        """Participant, study and session that Prolific has signed for this link; None if it did not, or long ago.

        Raises `AwayError` where Prolific's keys cannot be had now.
        """
        try:
            with self._published.turn():
                claims = self._published.decoded(token, KEYS, ("RS256",)).claims
            ids = claims["prolific"]
            is_fresh = float(claims["exp"]) > time.time() - _LEEWAY
            if is_fresh and claims["iss"] == _ISSUER and _is_for(claims["aud"], link):
                return {name: str(ids[name]) for name in _IDS}
        except (JoseError, KeyError, TypeError, ValueError):
            pass
        return None


def _is_for(audience: Any, link: str) -> bool:
    """Whether the token is for this study: its address, or that of the whole server."""
    for each in [audience] if isinstance(audience, str) else audience:
        asked, own = urlsplit(each), urlsplit(link)
        if (asked.scheme, asked.netloc) == (own.scheme, own.netloc) and asked.path in ("", "/", own.path):
            return True
    return False
