"""ansible-lint and yamllint have nothing to say of the collection, as it is installed, and of the manifests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from conftest import COLLECTION, TOOLS


def test_the_collection_is_clean(installed):
    environment = {**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}", "ANSIBLE_COLLECTIONS_PATH": str(installed.parents[2])}
    files = ["galaxy.yml", "meta", "playbooks", "roles"]
    for name in [".ansible-lint", ".yamllint", "galaxy.yml"]:
        (installed / name).write_bytes((COLLECTION / name).read_bytes())
    for command in (["yamllint", "--strict", *files], ["ansible-lint", "--offline", "--strict", *files]):
        ended = subprocess.run([TOOLS / command[0], *command[1:]], cwd=installed, env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_manifests_are_clean():
    manifests = sorted(str(path) for path in (COLLECTION.parent / "kubernetes").glob("*.yaml"))
    ended = subprocess.run(
        [TOOLS / "yamllint", "--strict", "-c", COLLECTION / ".yamllint", *manifests], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0 and len(manifests) == 2, ended.stdout
