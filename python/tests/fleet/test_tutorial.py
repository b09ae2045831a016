"""The tutorial of the fleet: its commands, in order, print what it says.

A block `sh` is commands, the next block `text` is what they print together; a line `...` stands for any lines. A block that is one command of the
fleet runs in this process, since importing what it stands on takes longer than most answers.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from drivescope.fleet.commands import main

ROOT = Path(__file__).resolve().parents[3]
TUTORIAL = ROOT / "docs/tutorial/fleet.md"
COMMAND = re.compile(r"python -m drivescope\.fleet ([^\n>|&;]*)\n")
STEP = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def printed(commands: str, folder: Path, environment: dict[str, str]) -> str:
    if alone := COMMAND.fullmatch(commands):
        with redirect_stdout(io.StringIO()) as printed:
            assert main(shlex.split(alone[1])) == 0
        return printed.getvalue()
    done = subprocess.run(["bash", "-eu", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_of_the_tutorial_print_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "python/src"), *sys.path]),
    }
    steps = STEP.findall(TUTORIAL.read_text(encoding="utf-8"))
    assert len(steps) == 11
    for commands, expected in steps:
        told = printed(commands, tmp_path, environment)
        pattern = "\n".join("(?:.*\n)*?.*" if line == "..." else re.escape(line) for line in expected.splitlines())
        assert re.fullmatch(pattern, told.rstrip("\n")), f"{commands} prints\n{told}"
    page = (tmp_path / "fleet.html").read_text(encoding="utf-8")
    assert page.count('<polyline points="') == page.count('<tr id="drive-SIM') == 27 and page.count('<tr id="failing-SIM') == 4
    assert page.count('href="https://host-') == 27 + 4
