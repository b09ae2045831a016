"""The tutorial of the fleet: its commands, in order, print what it says.

A block `sh` is commands, the next block `text` is what they print together; a line `...` stands for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TUTORIAL = ROOT / "docs/tutorial/fleet.md"
STEP = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_tutorial_print_what_it_says(tmp_path: Path) -> None:
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
        done = subprocess.run(["bash", "-eu", "-c", commands], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        pattern = "\n".join("(?:.*\n)*?.*" if line == "..." else re.escape(line) for line in expected.splitlines())
        assert re.fullmatch(pattern, done.stdout.rstrip("\n")), f"{commands} prints\n{done.stdout}"
    page = (tmp_path / "fleet.html").read_text(encoding="utf-8")
    assert page.count('<polyline points="') == page.count('<tr id="drive-SIM') == 27 and page.count('<tr id="failing-SIM') == 4
    assert page.count('href="https://host-') == 27 + 4
