"""A kernel without io_uring, as a filter on system calls makes one: the program falls back and says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from drivescope.program import find_program

#: Answers io_uring_setup (425 on every architecture) with ENOSYS (38), allows everything else, and becomes the program.
FILTER = """
import ctypes, os, struct, sys
program = b"".join(struct.pack("HBBI", *line) for line in (
    (0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)))
lines = ctypes.create_string_buffer(program)
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_void_p)]
held = Filter(len(program) // 8, ctypes.addressof(lines))
system = ctypes.CDLL(None)
assert system.prctl(38, 1, 0, 0, 0) == 0 and system.prctl(22, 2, ctypes.byref(held), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def check_without_ring(target: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(find_program()), "check", str(target), "--time-limit", "5s", "--json", "-", *options]
    return subprocess.run(
        [sys.executable, "-c", FILTER, *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_without_io_uring_it_measures_with_blocking_calls_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "drive.img"
    file.write_bytes(os.urandom(1 << 20) * 8)
    ended = check_without_ring(file)
    assert ended.returncode == 0, ended.stderr
    environment = json.loads(ended.stdout)["environment"]
    assert environment["engine"] == "psync"
    assert any(note.startswith("no io_uring: ") for note in environment["engine_features"])
    refused = check_without_ring(file, "--engine", "uring")
    assert refused.returncode == 1 and "--engine psync" in refused.stderr
