"""The commands of `python -m drivescope.fleet` and their options."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Callable

from . import rows
from .answers import QUESTIONS, answer, counted, listed, table_text
from .engine import DUCKDB, SPARK, Engine
from .lake import Lake, LakeError

def main(arguments: list[str]) -> int:
    """Runs one command. Exit code 0: done; 1: failed; 2: wrong usage."""
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (LakeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(prog="python -m drivescope.fleet", description="Results of many hosts: store, ask, report.")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    push = _command(commands, "push", "Add the runs of a store to a lake; runs that are there are skipped", _push)
    source = push.add_mutually_exclusive_group()
    source.add_argument("--store", help="store to read (default: the one drivescope uses)")
    source.add_argument("--spool", type=Path, help="folder with the runs of each host, as fetched; needs an inventory with hosts")
    source.add_argument("--backblaze", type=Path, nargs="+", help="drive statistics of Backblaze: daily CSV files, or ZIP files of them")
    source.add_argument("--perseus", type=Path, help="folder of the Perseus data set: CLUSTER/HOST/YYYY-MM-DD.csv")
    push.add_argument("--inventory", type=Path, help="CSV: serial, host, rack, enclosure, slot, batch")

    _command(commands, "compact", "Merge the files of each date and model", _compact)
    _command(commands, "verify", "List files whose bytes do not match their name", _verify)

    for name, asked in QUESTIONS.items():
        question = _command(commands, name, asked.text, _ask)
        question.add_argument("--engine", choices=[DUCKDB, SPARK], default=DUCKDB)
        question.add_argument("--csv", type=Path, help="write all rows to this file")
        question.add_argument("--rows", type=int, default=20, help="rows to print (default: 20)")
        question.set_defaults(question=name, of=None)
        if name == "survival":
            question.add_argument("--of", choices=["slow-regions", "bad-blocks", "failed"], help="event (default: slow-regions)")
        if name == "batches":
            _lot(question, "of")

    page = _command(commands, "report", "Write all answers as one HTML file", _report)
    page.add_argument("-o", "--output", type=Path, required=True, help="file to write")
    page.add_argument("--link", help="address of a host's own report, with {host}, {run} and {serial}")
    page.add_argument("--store", help="store of a host's runs, with {host} and {run}, in the commands that make their reports (default: the one drivescope uses)")
    page.add_argument("--engine", choices=[DUCKDB, SPARK], default=DUCKDB)
    _lot(page, "lot")

    gauges = _command(commands, "metrics", "Write counts of all answers as OpenMetrics text, for node_exporter's textfile collector", _metrics)
    gauges.add_argument("-o", "--output", type=Path, required=True, help="file to write, such as FOLDER/drivescope-fleet.prom")
    gauges.add_argument("--engine", choices=[DUCKDB, SPARK], default=DUCKDB)
    _lot(gauges, "lot")

    sheet = _command(commands, "data-sheet", "Measured throughput against data sheets", _data_sheet)
    sheet.add_argument("--sheet", type=Path, required=True, help="CSV: model, bytes_per_second")
    sheet.add_argument("--engine", choices=[DUCKDB, SPARK], default=DUCKDB)

    plan = commands.add_parser("plan", help="How many drives of a batch must be measured")
    plan.add_argument("--lot", type=int, required=True, help="drives in the batch")
    plan.add_argument("--slow-max", type=float, default=0.02, help="share of slow drives of a bad batch, to be refused (default: 0.02)")
    plan.add_argument("--confidence", type=float, default=0.95)
    plan.add_argument("--slow-good", type=float, default=0.01, help="share of slow drives of a good batch, to be accepted (default: 0.01)")
    plan.set_defaults(run=_plan)

    sim = _command(commands, "sim", "Fill a lake with a simulated fleet whose truth is known", _sim)
    sim.add_argument("--drives", type=int, default=1000)
    sim.add_argument("--days", type=int, default=90)
    sim.add_argument("--seed", type=int, default=1)
    sim.add_argument("--truth", type=Path, help="file for the truth (default: LAKE-truth.parquet)")
    return top


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=f"{text}.")
    command.add_argument("--lake", required=True, help="folder, file://… or s3://bucket/path")
    command.set_defaults(run=run)
    return command


def _lot(command: argparse.ArgumentParser, destination: str) -> None:
    text = "drives of each batch as delivered, measured or not (default: unknown; limits then hold for a batch of any size)"
    command.add_argument("--lot", type=int, dest=destination, metavar="DRIVES", help=text)


# Rows of one write: runs have about 100 KB, and each write makes a file per date and model.
ROWS_PER_WRITE = 1000


def _push(options: argparse.Namespace) -> int:
    lake = Lake.open(options.lake, create=True)
    if options.backblaze or options.perseus:
        return _push_public(lake, options)
    inventory = rows.Inventory.read(options.inventory) if options.inventory else rows.Inventory()
    if options.spool:
        sources: list[tuple[Path, str | None]] = [*rows.spool_folders(options.spool)]
    else:
        sources = [(folder, None) for folder in rows.run_folders(rows.store_folder(options.store))]
    added = known = refused = 0
    for begin in range(0, len(sources), ROWS_PER_WRITE):
        readable = []
        for folder, host in sources[begin : begin + ROWS_PER_WRITE]:
            try:
                readable.append(rows.read_run(folder, inventory, host))
            except LakeError as error:
                refused += 1
                print(f"error: {error}", file=sys.stderr)
        for is_virtual in (False, True):
            # The date of a virtual run is that of its file, which a copy may change.
            part = [row for row in readable if row["is_virtual"] == is_virtual]
            written = lake.write(rows.table(part), any_date=is_virtual)
            added, known = added + written.added, known + written.known
    print(f"{counted(added, 'run')} added, {known:,} known, {refused:,} refused")
    return 1 if refused else 0


def _push_public(lake: Lake, options: argparse.Namespace) -> int:
    from .public_data import backblaze, perseus

    added = known = 0
    for table in backblaze(options.backblaze) if options.backblaze else perseus(options.perseus):
        written = lake.write(table)
        added, known = added + written.added, known + written.known
    print(f"{counted(added, 'run')} added, {known:,} known")
    return 0


def _ask(options: argparse.Namespace) -> int:
    engine = Engine.open(Lake.open(options.lake), options.engine)
    rows = listed(options.question, answer(engine, options.question, options.of))
    if options.csv:
        rows.to_csv(options.csv, index=False)
    if len(rows) > 0:
        print(table_text(rows.head(options.rows)))
    count = counted(len(rows), "row")
    if len(rows) > options.rows:
        print(f"{count}; --rows {len(rows)} or --csv FILE has all")
    else:
        print(count)
    return 0


def _report(options: argparse.Namespace) -> int:
    from .report import OwnReport, report

    page = report(Engine.open(Lake.open(options.lake), options.engine), OwnReport(options.link, options.store), options.lot)
    options.output.write_text(page, encoding="utf-8")
    print(f"{options.output} written")
    return 0


def _metrics(options: argparse.Namespace) -> int:
    from .metrics import metrics

    text = metrics(Engine.open(Lake.open(options.lake), options.engine), options.lot)
    # The collector reads at any time: it sees the old file or the new one.
    part = options.output.with_name(f"{options.output.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(options.output)
    print(f"{options.output} written")
    return 0


def _data_sheet(options: argparse.Namespace) -> int:
    import pandas

    from .questions.claims import data_sheet

    result = data_sheet(Engine.open(Lake.open(options.lake), options.engine), pandas.read_csv(options.sheet))
    print(table_text(result))
    return 0


def _plan(options: argparse.Namespace) -> int:
    from .questions.acceptance import plan

    try:
        chosen = plan(options.lot, options.slow_max, options.confidence, options.slow_good)
    except ValueError as error:
        raise LakeError(f"cannot plan: {error}")
    print(
        f"Measure {chosen.sample:,} of {counted(chosen.lot, 'drive')}. Accept the batch if at most {chosen.accept} of them are slow.\n"
        f"Risk to accept {100 * options.slow_max:.3g} % slow: {100 * chosen.consumer_risk:.1f} %. "
        f"Risk to refuse {100 * options.slow_good:.3g} % slow: {100 * chosen.producer_risk:.1f} %."
    )
    return 0


def _sim(options: argparse.Namespace) -> int:
    from .simulate import simulate

    truth = options.truth or Path(f"{options.lake.rstrip('/')}-truth.parquet")
    runs = simulate(options.lake, options.drives, options.days, options.seed, truth)
    print(f"{counted(runs, 'run')} of {counted(options.drives, 'drive')} in {options.lake}; truth in {truth}")
    return 0


def _compact(options: argparse.Namespace) -> int:
    before, after = Lake.open(options.lake).compact()
    print(f"{counted(before, 'file')} before, {after:,} after")
    return 0


def _verify(options: argparse.Namespace) -> int:
    damaged = Lake.open(options.lake).verify()
    for path in damaged:
        print(f"{path}: damaged. Delete it and push the runs of its date again.")
    print(counted(len(damaged), "damaged file"))
    return 1 if damaged else 0
