"""The container's settings are ones that the server starts with. `make check-container` runs its scripts."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from sacrecap_server.cli.serve import command
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server_testing.world import World

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


@pytest.mark.parametrize("path", ["Containerfile", "compose.yaml"])
def test_images_are_named_by_what_is_in_them(path: str) -> None:
    named = re.findall(r"docker\.io/\S+", (ROOT / path).read_text(encoding="utf-8"))
    assert named
    assert [
        image for image in named if not re.fullmatch(r"docker\.io/library/[\w.:-]+@sha256:[0-9a-f]{64}", image)
    ] == []


def test_old_backups_go_where_there_is_a_new_one_and_only_there(world: World, tmp_path: Path) -> None:
    """The service of compose.yaml runs this script, with the database in a file."""
    service = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["backup"]
    assert service["entrypoint"] == ["/opt/backup.sh", "/backups"]
    assert "/opt/" in re.search(r"COPY .*backup\.sh.*", (ROOT / "Containerfile").read_text(encoding="utf-8"))[0]
    old, recent = tmp_path / "sacrecap-2020.gz", tmp_path / "sacrecap-yesterday.gz"
    for path, days in ((old, 20), (recent, 1)):
        path.touch()
        os.utime(path, (time.time() - days * 86400,) * 2)
    for database, done in ((f"sqlite:///{tmp_path}/none/sacrecap.db", False), (world.state.settings.database, True)):
        (tmp_path / "database_url").write_text(database + "\n", encoding="utf-8")
        (tmp_path / "database_url").chmod(0o600)
        environment = {**os.environ, "SACRECAP_DATABASE_FILE": str(tmp_path / "database_url")}
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        ended = subprocess.run([ROOT / "scripts/container/backup.sh", tmp_path, "once"], env=environment, check=False)
        assert (ended.returncode == 0, old.exists(), recent.exists()) == (done, not done, True)
    [new] = set(tmp_path.glob("sacrecap-*.gz")) - {old, recent}
    assert gzip.decompress(new.read_bytes()).startswith(b'{"kind": "sacrecap server backup"')
