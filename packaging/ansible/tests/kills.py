#!/usr/bin/env python3
"""Kills a play at random moments, lets the last one end, and counts: each run that was asked for is in the lake once.

Runs in the bed: `bed.py … -- python kills.py --kills 10`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

PLAY = ["ansible-playbook", "drivescope.fleet.fleet"]


def play(log: Path, seconds: float | None) -> int | None:
    """Runs a play, or kills it and all that it started after so many seconds; None if it was killed."""
    with log.open("a") as file:
        process = subprocess.Popen(PLAY, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None


def counted(folder: Path) -> tuple[Counter[tuple[str, str]], int, int]:
    """How often each run of the lake is there, the files of the lake that are damaged, and the unfinished files of the spool."""
    import pyarrow.parquet as pq

    from drivescope.fleet import Lake

    lake = Lake.open(str(folder / "lake"))
    rows = [row for path in lake.files() for row in pq.read_table(path, columns=["serial", "key"], partitioning=None).to_pylist()]
    parts = list((folder / "spool").rglob("*.part"))
    return Counter((row["serial"], row["key"].hex()) for row in rows), len(lake.verify()), len(parts)


def main() -> int:
    """Says what was lost and doubled; status 1 if anything was."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seconds", type=float, required=True, help="about how long a whole play takes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder, drawn = Path.cwd(), random.Random(options.seed)
    inventory = json.loads((folder / "inventory.json").read_text())
    repeat = inventory["all"]["vars"]["drivescope_experiments"][0]["repeat"]
    serials = [drive["serial"] for drive in json.loads((folder / "truth.json").read_text())]

    moments = []
    for _ in range(options.kills):
        seconds = drawn.uniform(1, options.seconds)
        if play(folder / "kills.log", seconds) is None:
            moments.append(round(seconds, 1))
    begun = time.monotonic()
    status = play(folder / "kills.log", None)
    last = time.monotonic() - begun
    status_again = play(folder / "kills.log", None)

    found, damaged, parts = counted(folder)
    doubled = sum(count - 1 for count in found.values())
    by_serial = Counter(serial for serial, _ in found)
    lost = sum(repeat - by_serial[serial] for serial in serials)
    stores = [len(list(path.glob("runs/*/run.json"))) for path in (folder / "hosts").glob("*/root/var/lib/drivescope/fleet/*/*") if path.is_dir()]
    print(f"killed after {moments} s; the last play took {last:.0f} s")
    print(f"{len(found)} runs of {len(serials)} drives, {lost} lost, {doubled} doubled; {damaged} files damaged, {parts} unfinished")
    print(f"on the hosts {len(stores)} stores with {sum(stores)} runs; status {status}, of a second play {status_again}")
    is_right = lost == doubled == damaged == parts == 0 and status == status_again == 0
    return 0 if is_right and len(stores) == sum(stores) == len(serials) * repeat else 1


if __name__ == "__main__":
    sys.exit(main())
