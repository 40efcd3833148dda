"""Random calls of the server's API, from its OpenAPI: no 5xx, and every answer as described. Needs schemathesis.

python benchmarks/server_api.py --seconds 600
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from sacrecap_server.accounts.access import Role, new_token

sys.path.append(str(Path(__file__).parents[1] / "packages" / "server" / "tests"))
from sacrecap_server_testing.benchmark import make, submitted
from sacrecap_server_testing.live import Live
from sacrecap_server_testing.world import World

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'sacrecap.db'}"
        world = World(folder, url)
        make(world, quota_day=100_000, quota_total=100_000)
        submitted(world, "careful")
        world.run_jobs()
        account = world.account(Role.MEMBER)
        with world.database.write() as session:
            token = new_token(session, account, "fuzz")
        world.state.close()
        live = Live(folder, url)
        live.start()
        command = [
            Path(sysconfig.get_path("scripts")) / "schemathesis",
            "run",
            live.url + "/api/v1/openapi.json",
            "--header",
            f"Authorization: Bearer {token}",
            "--checks",
            CHECKS,
            "--max-examples",
            "1000000",
            "--max-time",
            str(options.seconds),
            "--continue-on-failure",
            "--request-timeout",
            "30",
        ]
        status = subprocess.run(command, check=False, cwd=folder).returncode
        live.stop()
        broken = [line for line in live.log().splitlines() if '"status": 5' in line or '"event": "error"' in line]
    print(f"5xx: {len(broken)}", *broken[:10], sep="\n")
    return 1 if broken or status else 0


if __name__ == "__main__":
    sys.exit(main())
