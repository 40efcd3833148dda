"""Signing in at an identity provider: OpenID Connect, with the authorization code and PKCE.

What the browser carries between leaving for the provider and coming back is one signed cookie (`sealed`, `opened`):
state, nonce and code verifier. Nothing of it is stored here.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError

from sacrecap_server.accounts.operate import EMAIL, address
from sacrecap_server.accounts.passwords import new_secret
from sacrecap_server.accounts.remote_documents import SECONDS, AwayError, RemoteDocuments
from sacrecap_server.errors import Refused
from sacrecap_server.settings.server import ServerSettings, is_loopback

_LEEWAY = 60
_SIGNED_WITH = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
"""Public-key signatures only: with others, whoever knows the client's secret could make tokens."""
BACK_SECONDS = 600


class WrongTokenError(Exception):
    """The provider's answer does not show who somebody is."""


@dataclass(frozen=True)
class Journey:
    """One way to the provider and back, as the browser carries it in a signed cookie."""

    state: str
    nonce: str
    verifier: str
    next: str
    invitation: str
    until: float


@dataclass(frozen=True)
class Person:
    """The person whom the provider has identified."""

    issuer: str
    subject: str
    email: str
    """As `address` gives it; empty if the provider gives none, or has not verified it."""


@dataclass(frozen=True)
class Pending:
    """A person whose address has an account that they have not shown to be theirs yet."""

    issuer: str
    subject: str
    email: str
    next: str
    until: float


class Provider:
    """The provider of the server's settings. Its metadata and keys are fetched when needed, and kept for an hour."""

    def __init__(self, settings: ServerSettings) -> None:
        assert settings.oidc_issuer is not None
        self.issuer = settings.oidc_issuer
        self._client_id = settings.oidc_client_id
        self._client_secret = settings.oidc_client_secret
        self._back = f"{settings.url}/sign-in/provider/done"
        self._published = RemoteDocuments()

    def leave(self, next_page: str, invitation: str) -> tuple[str, Journey]:
        """The provider's address to go to, and what the browser must bring back."""
        journey = Journey(new_secret(), new_secret(), new_secret(), next_page, invitation, time.time() + BACK_SECONDS)
        with self._published.turn(), self._client() as client:
            address, _ = client.create_authorization_url(
                self._endpoint("authorization_endpoint"), journey.state, journey.verifier, nonce=journey.nonce
            )
        return str(address), journey

    def arrive(self, code: str, journey: Journey) -> Person:
        """Who comes back with this code: exchanges it for an ID token, and checks that.

        Raises `AwayError`, and `WrongTokenError` for a code or a token that is not right.
        """
        with self._published.turn():
            try:
                with self._client() as client:
                    token = client.fetch_token(
                        self._endpoint("token_endpoint"),
                        grant_type="authorization_code",
                        code=code,
                        code_verifier=journey.verifier,
                    )
            except httpx2.HTTPError as error:
                raise AwayError from error
            except (AuthlibBaseError, ValueError, TypeError) as error:
                raise WrongTokenError from error
            claims = self._claims(token, journey)
        email = address(str(claims.get("email"))) if claims.get("email_verified") is True else ""
        return Person(self.issuer, str(claims["sub"])[:255], email if EMAIL.fullmatch(email) else "")

    def _claims(self, token: dict[str, Any], journey: Journey) -> CodeIDToken:
        offered = self._metadata_list("id_token_signing_alg_values_supported")
        allowed = [each for each in _SIGNED_WITH if each in offered]
        try:
            decoded = self._published.decoded(token["id_token"], self._endpoint("jwks_uri"), allowed)
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                {
                    "iss": {"essential": True, "value": self.issuer},
                    "aud": {"essential": True, "value": self._client_id},
                },
                {"nonce": journey.nonce, "client_id": self._client_id, "access_token": token.get("access_token")},
            )
            claims.validate(leeway=_LEEWAY)
            if not isinstance(claims["sub"], str) or not claims["sub"]:
                raise WrongTokenError
        except (JoseError, AuthlibBaseError, KeyError, TypeError, ValueError) as error:
            raise WrongTokenError from error
        return claims

    def _client(self) -> OAuth2Client:
        return OAuth2Client(
            self._client_id,
            self._client_secret,
            scope="openid email",
            redirect_uri=self._back,
            token_endpoint_auth_method="client_secret_basic" if self._client_secret else "none",
            code_challenge_method="S256",
            timeout=SECONDS,
            follow_redirects=False,
            trust_env=False,
        )

    def _endpoint(self, name: str) -> str:
        address = self._metadata().get(name)
        if not isinstance(address, str) or not is_protected(address):
            raise AwayError
        return address

    def _metadata_list(self, name: str) -> list[str]:
        found = self._metadata().get(name)
        return found if isinstance(found, list) else ["RS256"]

    def _metadata(self) -> dict[str, Any]:
        found = self._published.fetch(self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        # OpenID Connect Discovery 1.0, 4.3: else one provider could speak for another.
        if found.get("issuer") != self.issuer:
            raise AwayError
        return found


def is_protected(address: str) -> bool:
    """Whether the connection to the address is protected against reading and changes."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))


def sealed(secret_key: str, value: Journey | Pending) -> str:
    """The value as a cookie that nobody can change or make."""
    body = base64.urlsafe_b64encode(json.dumps(value.__dict__).encode()).decode()
    return f"{body}.{_signature(secret_key, type(value), body)}"


def opened(secret_key: str, kind: type[Journey] | type[Pending], cookie: str) -> Any:
    """The value of a cookie that `sealed` made, of this kind and not too long ago; raises `Refused` for others."""
    body, _, signature = cookie.partition(".")
    if hmac.compare_digest(signature.encode(), _signature(secret_key, kind, body).encode()):
        value = kind(**json.loads(base64.urlsafe_b64decode(body)))
        if value.until > time.time():
            return value
    raise Refused(403, "This sign-in did not begin in this browser, or took too long. Begin again on the page Sign in.")


def _signature(secret_key: str, kind: type, body: str) -> str:
    return hmac.new(secret_key.encode(), f"{kind.__name__}:{body}".encode(), hashlib.sha256).hexdigest()
