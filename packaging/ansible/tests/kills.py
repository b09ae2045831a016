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

# One drive at a time in each rack, so that there is still something to measure after the first kills.
PLAY = ["ansible-playbook", "drivescope.fleet.fleet", "-e", '{"drivescope_limits": {"rack": 1}}']
# About as many as a play has in which something is measured. A play that ends earlier is not killed.
TASKS = 40


def play(log: Path, task: int | None = None, seconds: float = 0) -> int | None:
    """Runs a play, or kills it with all that it started, some seconds after a task has begun; None if it was killed."""
    with log.open("w") as file:
        process = subprocess.Popen(PLAY, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)
    if task is None:
        return process.wait()
    while process.poll() is None and tasks_begun(log) < task:
        time.sleep(0.02)
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def tasks_begun(log: Path) -> int:
    return log.read_text().count("\nTASK [")


def documents(folder: Path) -> tuple[int, int]:
    """Documents of runs on the hosts, finished or not, and in the spool."""
    on_hosts = (folder / "hosts").glob("*/root/var/lib/drivescope/fleet/*/*/runs/*/run.json")
    return len(list(on_hosts)), len(list((folder / "drivescope/spool").glob("*/*/*/runs/*/run.json")))


def counted(folder: Path) -> tuple[Counter[tuple[str, str]], int, int]:
    """How often each run of the lake is there, the files of the lake that are damaged, and the unfinished files of the spool."""
    import pyarrow.parquet as pq

    from drivescope.fleet import Lake

    lake = Lake.open(str(folder / "drivescope/lake"))
    rows = [row for path in lake.files() for row in pq.read_table(path, columns=["serial", "key"], partitioning=None).to_pylist()]
    parts = list((folder / "drivescope/spool").rglob("*.part"))
    return Counter((row["serial"], row["key"].hex()) for row in rows), len(lake.verify()), len(parts)


def main() -> int:
    """Says what was lost and doubled; status 1 if anything was."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=3, help="the longest time from the begin of a task to its kill (default: 3)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder, drawn = Path.cwd(), random.Random(options.seed)
    inventory = json.loads((folder / "inventory.json").read_text())
    repeat = inventory["all"]["vars"]["drivescope_experiments"][0]["repeat"]
    serials = [drive["serial"] for drive in json.loads((folder / "truth.json").read_text())]

    # A random task and a random time behind its begin, since tasks take longer on a busy machine, and measuring longer than others.
    moments = []
    for number in range(options.kills):
        task, seconds = drawn.randrange(TASKS), drawn.uniform(0, options.seconds)
        if play(folder / f"kill-{number}.log", task, seconds) is None:
            moments.append("{:.1f} s after task {} ({} runs on hosts, {} fetched)".format(seconds, task, *documents(folder)))
    begun = time.monotonic()
    status = play(folder / "last.log")
    last = time.monotonic() - begun
    status_again = play(folder / "again.log")

    found, damaged, parts = counted(folder)
    doubled = sum(count - 1 for count in found.values())
    by_serial = Counter(serial for serial, _ in found)
    lost = sum(repeat - by_serial[serial] for serial in serials)
    stores = [len(list(path.glob("runs/*/run.json"))) for path in (folder / "hosts").glob("*/root/var/lib/drivescope/fleet/*/*") if path.is_dir()]
    print(f"{len(moments)} of {options.kills} plays killed: {'; '.join(moments)}")
    print(f"the last play took {last:.0f} s")
    print(f"{len(found)} runs of {len(serials)} drives, {lost} lost, {doubled} doubled; {damaged} files damaged, {parts} unfinished")
    print(f"on the hosts {len(stores)} stores with {sum(stores)} runs; status {status}, of a second play {status_again}")
    is_right = lost == doubled == damaged == parts == 0 and status == status_again == 0
    return 0 if is_right and len(stores) == sum(stores) == len(serials) * repeat else 1


if __name__ == "__main__":
    sys.exit(main())
