"""No role talks to a host whose key is not checked, however that was switched off."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from conftest import TOOLS


def refusal(installed: Path, play: str, variables: dict[str, str], environment: dict[str, str]) -> str:
    """What a play prints on a host that is not there (RFC 5737), where it must end before it looks for it."""
    options = [option for item in variables.items() for option in ("-e", "{}='{}'".format(*item))]
    ended = subprocess.run(
        [TOOLS / "ansible-playbook", "-i", "192.0.2.1,", f"drivescope.fleet.{play}", *options],
        env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(installed.parents[2]), "ANSIBLE_TIMEOUT": "1", **environment},
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert ended.returncode == 2, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize(
    "play, variables, environment",
    [
        ("install", {}, {"ANSIBLE_HOST_KEY_CHECKING": "False"}),
        ("measure", {"ansible_host_key_checking": "false"}, {}),
        ("collect", {"ansible_ssh_common_args": "-o StrictHostKeyChecking=no"}, {}),
        ("fleet", {}, {"ANSIBLE_SSH_EXTRA_ARGS": "-o stricthostkeychecking=accept-new"}),
    ],
    ids=["environment", "variable", "arguments", "arguments of the environment"],
)
def test_a_role_refuses_unchecked_host_keys(installed, play, variables, environment):
    assert "Host keys are not checked." in refusal(installed, play, variables, environment)


def test_checked_host_keys_are_accepted(installed):
    text = refusal(installed, "install", {"ansible_ssh_common_args": "-o StrictHostKeyChecking=yes"}, {})
    assert "Host keys are not checked." not in text and "cannot install drivescope: it needs" in text
