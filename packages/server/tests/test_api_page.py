"""The page of the studies' API: its table is the API's, and its commands run."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from study_world import triplet_file

from sacrecap_server_testing.routes import every_route
from sacrecap_server_testing.world import TOKEN

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "run-a-study.md"


def test_the_table_lists_the_routes_of_studies():
    listed = re.findall(r"^\| `([A-Z]+)` \| `(/studies\S*)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    routes = [
        (method, route.path_format.removeprefix("/api/v1"))
        for route, _ in every_route()
        for method in route.methods - {"HEAD"}
        if route.path.startswith("/api/v1/studies")
    ]
    assert sorted(listed) == sorted(routes)


def test_the_commands_run(site, tmp_path):
    if not shutil.which("curl") or not shutil.which("jq"):
        pytest.skip("no curl, or no jq")
    (block,) = re.findall(r"```sh\n(api=.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "study.json").write_text(json.dumps(triplet_file()), encoding="utf-8")
    token = TOKEN
    script = "set -e\n" + block.replace("https://evaluation.example.org", site.url)
    environment = {**os.environ, "SACRECAP_TOKEN": token, "no_proxy": "*"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert '"alpha": null' in done.stdout
    assert (tmp_path / "answers.csv").read_text(encoding="utf-8").startswith("answer_id,role")
