"""The container's settings are ones that the server starts with. `make check-container` runs its scripts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from sacrecap_server.cli.serve import command
from sacrecap_server.settings.server import ServerSettings

ROOT = Path(__file__).parents[3]


def test_the_server_starts_with_what_compose_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the secrets of secrets.sh, and only the public address given by the operator."""
    subprocess.run([ROOT / "scripts" / "container" / "secrets.sh", tmp_path / "secrets"], check=True)
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    service = compose["services"]["server"]
    assert {compose["secrets"][name]["file"] for name in service["secrets"]} <= {
        f"./secrets/{path.name}" for path in (tmp_path / "secrets").iterdir()
    }
    given = {"SACRECAP_PUBLIC_URL": "https://evaluation.example.org"}
    for name, value in service["environment"].items():
        [(variable, default)] = re.findall(r"^\$\{(\w+)(?::[-?](.*))?\}$", value) or [("", value)]
        monkeypatch.setenv(name, given.get(variable, default).replace("/run/secrets", str(tmp_path / "secrets")))
    started: list[ServerSettings] = []
    monkeypatch.setattr("sacrecap_server.run.serve", lambda settings: started.append(settings) or 0)
    result = CliRunner().invoke(command, standalone_mode=False)
    assert result.exception is None, result.exception
    result.return_value()
    [settings] = started
    assert settings.registration == "invitation"
    assert settings.database.endswith("@database/sacrecap")
    assert settings.is_public
    assert (settings.smtp_password, settings.oidc_client_secret, settings.oidc_issuer) == (None, None, None)
    # With mail and a provider, the same files have their secrets.
    given |= {"SACRECAP_MAIL": "smtp://me@mail.example.org", "SACRECAP_MAIL_FROM": "board@example.org"}
    given |= {"SACRECAP_OIDC_ISSUER": "https://id.example.org", "SACRECAP_OIDC_CLIENT_ID": "sacrecap"}
    for name, value in service["environment"].items():
        if variable := next((each for each in given if each in value), None):
            monkeypatch.setenv(name, given[variable])
    for name in ("smtp_password", "oidc_client_secret"):
        (tmp_path / "secrets" / name).chmod(0o600)
        (tmp_path / "secrets" / name).write_text(f"of {name}\n", encoding="utf-8")
    CliRunner().invoke(command, standalone_mode=False).return_value()
    assert (started[1].smtp_password, started[1].oidc_client_secret) == ("of smtp_password", "of oidc_client_secret")
    assert settings.secure


def test_the_secrets_are_made_once(tmp_path: Path) -> None:
    """Others would not be the database's any more."""
    (tmp_path / "secrets").mkdir()
    script = ROOT / "scripts" / "container" / "secrets.sh"
    again = subprocess.run([script, tmp_path / "secrets"], capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "made once" in again.stdout
    assert not list((tmp_path / "secrets").iterdir())
