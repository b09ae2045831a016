"""The commands of `python -m drivescope.fleet` and their options."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import rows
from .lake import Lake, LakeError


def main(arguments: list[str]) -> int:
    """Runs one command. Exit code 0: done; 1: failed; 2: wrong usage."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except (LakeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(prog="python -m drivescope.fleet", description="Results of many hosts: store, ask, report.")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    push = _command(commands, "push", "Add the runs of a store to a lake; runs that are there are skipped", _push)
    push.add_argument("--store", help="store to read (default: the one drivescope uses)")
    push.add_argument("--inventory", type=Path, help="CSV: serial, rack, enclosure, slot, batch")

    _command(commands, "compact", "Merge the files of each date and model", _compact)
    _command(commands, "verify", "List files whose bytes do not match their name", _verify)
    return top


def _command(commands: argparse._SubParsersAction, name: str, text: str, run) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=f"{text}.")
    command.add_argument("--lake", required=True, help="folder, file://… or s3://bucket/path")
    command.set_defaults(run=run)
    return command


def _push(options: argparse.Namespace) -> int:
    lake = Lake.open(options.lake, create=True)
    inventory = rows.Inventory.read(options.inventory) if options.inventory else rows.Inventory()
    added = known = 0
    refused = []
    for folder in rows.run_folders(rows.store_folder(options.store)):
        try:
            written = lake.write(rows.table([rows.read_run(folder, inventory)]))
        except LakeError as error:
            refused.append(str(error))
            continue
        added, known = added + written.added, known + written.known
    for text in refused:
        print(f"error: {text}", file=sys.stderr)
    print(f"{added} runs added, {known} known, {len(refused)} refused")
    return 1 if refused else 0


def _compact(options: argparse.Namespace) -> int:
    before, after = Lake.open(options.lake).compact()
    print(f"{before} files before, {after} after")
    return 0


def _verify(options: argparse.Namespace) -> int:
    damaged = Lake.open(options.lake).verify()
    for path in damaged:
        print(f"{path}: damaged. Delete it and push the runs of its date again.")
    print(f"{len(damaged)} damaged files")
    return 1 if damaged else 0
