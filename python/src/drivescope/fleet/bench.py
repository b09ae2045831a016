"""`python -m drivescope.fleet.bench -o PAGE`: time, memory and scores of all questions on simulated fleets, as a page.

Each lake and each engine has a process of its own, so that memory and caches are its own. A lake that is there is used again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Iterable

import numpy as np
import pandas as pd

from .answers import QUESTIONS, answer
from .engine import DUCKDB, SPARK, Engine
from .lake import Lake
from .questions.acceptance import SHARE_GOOD, SHARE_MAX, by_truth, decide, plan
from .questions.outliers import judge
from .simulate import drawn_places

DRIVES = (1_000, 10_000, 100_000)
# Tolerances of the comparison of engines; the optimiser of `effects` stops where its numerical gradient does.
SAME, SAME_EFFECTS = 1e-6, 1e-4
DRAWN_BATCHES = 100_000
# Drives of the batches of simulated fleets.
LOT = 500
BATCH_SEEDS, BATCH_DRIVES = range(101, 111), 20_000


def main(arguments: list[str]) -> int:
    """Measures, then writes the page."""
    options = _parser().parse_args(arguments)
    if options.one:
        print(json.dumps(_measure(options.one, options.engine)))
        return 0
    folder = options.folder or Path(tempfile.mkdtemp(prefix="drivescope-fleet-"))
    folder.mkdir(parents=True, exist_ok=True)
    before = os.getloadavg()
    rows = []
    for drives in options.drives:
        lake = str(folder / str(drives))
        if not Path(f"{lake}-truth.parquet").exists():
            _module("drivescope.fleet", "sim", "--lake", lake, "--drives", str(drives), "--seed", "1")
        figures = json.loads(_module("drivescope.fleet.bench", "--one", lake, "--engine", DUCKDB))
        if drives <= options.spark_drives_max:
            figures["spark"] = json.loads(_module("drivescope.fleet.bench", "--one", lake, "--engine", SPARK))
        rows.append(figures)
        print(f"{drives:,} drives measured", file=sys.stderr)
    options.output.write_text(_page(rows, before, os.getloadavg(), options), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m drivescope.fleet.bench", description="Scores all questions on simulated fleets.")
    parser.add_argument("-o", "--output", type=Path, default=Path("bench-fleet.md"), help="page to write")
    parser.add_argument("--folder", type=Path, help="folder of the lakes, kept (default: a temporary one)")
    parser.add_argument("--drives", type=lambda text: [int(part) for part in text.split(",")], default=list(DRIVES), help="sizes of the fleets")
    parser.add_argument("--spark-drives-max", type=int, default=0, help="largest fleet to ask on Spark, too (default: none)")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--engine", choices=[DUCKDB, SPARK], default=DUCKDB, help=argparse.SUPPRESS)
    return parser


def _module(name: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", name, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def _measure(place: str, name: str) -> dict[str, Any]:
    """One lake on one engine, and what is compared with the truth or, on Spark, with DuckDB."""
    begun, worked = time.monotonic(), time.process_time()
    engine = Engine.open(Lake.open(place), name)
    answers = {question: answer(engine, question) for question in QUESTIONS}
    figures: dict[str, Any] = {
        "seconds": time.monotonic() - begun,
        "processor_seconds": time.process_time() - worked,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }
    if name == SPARK:
        other = Engine.open(Lake.open(place), DUCKDB)
        figures["different"] = [question for question in QUESTIONS if not _is_same(question, answers[question], answer(other, question))]
        return figures
    truth = pd.read_parquet(f"{place}-truth.parquet").set_index("serial")
    counts = engine.connection.raw_sql("SELECT count(*), sum(len(h.buckets)) FROM (SELECT unnest(histograms) AS h FROM runs)").fetchall()[0]
    figures.update(drives=len(truth), runs=int(counts[0]), buckets=int(counts[1]), **_scores(answers, truth), **_opening(engine))
    return figures


def _is_same(question: str, ours: pd.DataFrame, theirs: pd.DataFrame) -> bool:
    tolerance = SAME_EFFECTS if question == "effects" else SAME
    try:
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, rtol=tolerance, atol=tolerance)
    except AssertionError:
        return False
    return True


def _scores(answers: dict[str, pd.DataFrame], truth: pd.DataFrame) -> dict[str, Any]:
    found = answers["outliers"].join(truth, on="serial", rsuffix="_true")
    listed = found["is_outlier"]
    slow = (found["slower_true"] > 0) | found["bad_slot"]
    large = (found["slower_true"] >= 0.1) | found["bad_slot"]
    told = found[listed & slow & found["cause"].isin(["slot", "drive"])]
    right = (told["cause"] == "slot") == told["bad_slot"]
    delayed = answers["fail-slow"].join(truth, on="serial", rsuffix="_true")
    firmware = answers["effects"].query("factor == 'firmware' and is_significant")
    true_effects = int(firmware["level"].str.contains("CC54|NM0007 SN03|MG07ACA14TA 0104").sum())
    decisions = by_truth(decide(answers["outliers"], LOT), truth, LOT, LOT)
    changed = answers["drift"].join(truth, on="serial", rsuffix="_true")
    changed = changed[changed["has_drifted"]]
    return {
        "listed": int(listed.sum()), "false": int((listed & ~slow).sum()),
        "large": int(large.sum()), "large_found": int((listed & large).sum()),
        "told": len(told), "told_right": int(right.sum()),
        "delayed": int(delayed["fail_slow"].sum()), "delayed_found": int((delayed["fail_slow"] & delayed["is_fail_slow"]).sum()),
        "changed": len(changed), "changed_false": int((~((changed["slowed_on_day"] > 0) | changed["ageing"])).sum()),
        "firmware_true": true_effects, "firmware_false": len(firmware) - true_effects,
        "failing": _told(answers["failing"], truth["failing"] != ""),
        "smr": _told(answers["smr"], truth["smr"]),
        "counterfeits": _told(answers["counterfeits"], truth["counterfeit"]),
        "batches": _decided(decisions),
    }


def _told(listed: pd.DataFrame, is_true: pd.Series) -> list[int]:
    """Drives of which it is true: listed, all, and how many the list has."""
    return [len(set(listed["serial"]) & set(is_true.index[is_true])), int(is_true.sum()), len(listed)]


def _decided(decisions: pd.DataFrame) -> dict[str, list[int]]:
    """Bad batches, good ones and those between, as `plan` has them: accepted, refused, and inconclusive."""
    bad, good = decisions["slow_true"] >= SHARE_MAX * LOT, decisions["slow_true"] <= SHARE_GOOD * LOT
    kinds = {"bad": bad, "good": good, "between": ~bad & ~good}
    return {name: [int((is_kind & (decisions["decision"] == said)).sum()) for said in ("accept", "refuse", "inconclusive")] for name, is_kind in kinds.items()}


def decided_fleets(seeds: Iterable[int], drives: int) -> dict[str, pd.DataFrame]:
    """Decisions by truth on fleets drawn without lakes: of whole batches, of samples as planned, and of these once the undecided drives were swapped."""
    sample = plan(LOT).sample
    results: dict[str, list[pd.DataFrame]] = {"whole": [], "sample": [], "swapped": []}
    for seed in seeds:
        places, truth = drawn_places(drives, 90, seed)
        judged = judge(places)
        order = pd.Series(np.random.default_rng(seed).permutation(len(truth)), index=truth["serial"])
        chosen = judged[judged["serial"].map(order.groupby(truth["batch"].to_numpy()).rank()) <= sample]
        is_slot = chosen["serial"].isin(truth.loc[truth["bad_slot"], "serial"])
        cause = chosen["cause"].where(chosen["cause"] != "drive or slot", np.where(is_slot, "slot", "drive"))
        for name, rows, measured in (("whole", judged, LOT), ("sample", chosen, sample), ("swapped", chosen.assign(cause=cause), sample)):
            results[name].append(by_truth(decide(rows, LOT), truth, LOT, measured))
    return {name: pd.concat(parts) for name, parts in results.items()}


def _opening(engine: Engine) -> dict[str, Any]:
    """Size of the report, and how much longer a browser takes to draw it than an empty page, if there is one."""
    from .report import report

    begun = time.monotonic()
    page = report(engine)
    figures: dict[str, Any] = {"report_seconds": time.monotonic() - begun, "report_bytes": len(page.encode())}
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return figures
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for name, text in (("empty.html", "<!doctype html><title>empty</title>"), ("fleet.html", page)):
            (Path(folder) / name).write_text(text, encoding="utf-8")
            begun = time.monotonic()
            command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1300,1600", f"--user-data-dir={folder}/profile"]
            subprocess.run([*command, f"--screenshot={folder}/page.png", f"file://{folder}/{name}"], check=True, stderr=subprocess.DEVNULL)
            times.append(time.monotonic() - begun)
    return {**figures, "opening_seconds": max(times[1] - times[0], 0.0)}


def _page(rows: list[dict[str, Any]], before: tuple[float, ...], after: tuple[float, ...], options: argparse.Namespace) -> str:
    command = f"python -m drivescope.fleet.bench --drives {','.join(map(str, options.drives))} --spark-drives-max {options.spark_drives_max}"
    load = "; ".join(" ".join(f"{value:.2f}" for value in averages) for averages in (before, after))
    lines = [
        "# Fleet: time, memory and scores\n",
        f"Made by `{command}` on lakes of `python -m drivescope.fleet sim --seed 1`, 90 days, {os.cpu_count()} processors.",
        f"Load averages before and after: {load}. A load above {os.cpu_count()} means that other programs shared the processors: times are then longer than on an idle machine; "
        "processor time is not.\n",
        "## Engines\n",
        f"All {len(QUESTIONS)} questions, from opening the lake to the last answer. Goal for 100,000 drives on DuckDB: 60 s and 4 GB.\n",
        "| drives | runs | histogram buckets | DuckDB | processor time | peak memory | Spark | same results |",
        "|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        spark = row.get("spark")
        same = "not run" if spark is None else "yes" if not spark["different"] else f"no: {', '.join(spark['different'])}"
        lines.append(
            f"| {row['drives']:,} | {row['runs']:,} | {row['buckets']:,} | {row['seconds']:.1f} s | {row['processor_seconds']:.1f} s | {row['gigabytes']:.2f} GB | "
            f"{'not run' if spark is None else format(spark['seconds'], '.0f') + ' s'} | {same} |"
        )
    lines += ["\nOn Spark, results are compared to 1e-6, `effects` to 1e-4.\n", "## Report\n", "Written after the questions. Opening: in headless Chromium, less an empty page.\n"]
    lines += ["| drives | writing | size | opening |", "|---:|---:|---:|---:|"]
    for row in rows:
        opening = f"{row['opening_seconds']:.1f} s" if "opening_seconds" in row else "not measured"
        lines.append(f"| {row['drives']:,} | {row['report_seconds']:.1f} s | {row['report_bytes'] / 1e6:.2f} MB | {opening} |")
    lines += ["\n## Scores\n", "| | goal |" + "".join(f" {row['drives']:,} drives |" for row in rows), "|---|---|" + "---|" * len(rows)]
    for name, goal, text in _SCORES:
        lines.append(f"| {name} | {goal} |" + "".join(f" {text(row)} |" for row in rows))
    lines += ["\n## Acceptance plan\n", _plan_text(), "\n## Decisions on batches\n", _batches_text(), ""]
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} ({part:,} of {whole:,})" if whole else "none"


_SCORES: tuple[tuple[str, str, Callable[[dict[str, Any]], str]], ...] = (
    ("Failing drives", "all", lambda row: "{} of {}, {} listed".format(*row["failing"])),
    ("FDR of `outliers`", "5 % ± 1 %", lambda row: _share(row["false"], row["listed"])),
    ("Recall, 10 % slower or in a bad slot", "≥ 95 %", lambda row: _share(row["large_found"], row["large"])),
    ("Drive or slot, told right after a swap", "–", lambda row: _share(row["told_right"], row["told"])),
    ("Recall of `fail-slow`", "–", lambda row: _share(row["delayed_found"], row["delayed"])),
    ("False entries of `drift`", "–", lambda row: _share(row["changed_false"], row["changed"])),
    ("Firmware effects of 3 % found", "3 of 3", lambda row: f"{row['firmware_true']} of 3, {row['firmware_false']} false"),
    ("SMR under a CMR model", "all", lambda row: "{} of {}, {} listed".format(*row["smr"])),
    ("Counterfeits", "all", lambda row: "{} of {}, {} listed".format(*row["counterfeits"])),
    ("Whole batches with 2 % slow or more, accepted", "≤ 5 %", lambda row: _decided_text(row["batches"]["bad"])),
    ("Whole batches with 1 % slow or fewer, refused", "≤ 5 %", lambda row: _decided_text(row["batches"]["good"], is_good=True)),
)


def _decided_text(counts: list[int], is_good: bool = False) -> str:
    accepted, refused, undecided = counts
    wrong, right = (f"{refused:,}", f"{accepted:,} accepted") if is_good else (f"{accepted:,}", f"{refused:,} refused")
    return f"{wrong} of {sum(counts):,}, {right}, {undecided:,} inconclusive"


def _batches_text() -> str:
    """Decisions on fleets of other seeds, as many as it takes to see a risk of 5 %."""
    names = {
        "whole": f"all {LOT} measured",
        "sample": f"{plan(LOT).sample} measured, as planned",
        "swapped": "the same, undecided drives swapped",
    }
    lines = [
        f"{len(BATCH_SEEDS)} more fleets of {BATCH_DRIVES:,} drives (seeds {BATCH_SEEDS[0]} to {BATCH_SEEDS[-1]}, sums by place drawn without lakes), whole batches of {LOT}. "
        "Slow is a drive 8 % or more below its equals, in truth as in the question. Stated: at most 5 % of the batches with 2 % slow or more are accepted, "
        "and at most 5 % of those with 1 % or fewer refused; between, either decision is right.\n",
        "| | 2 % slow or more, accepted | 1 % slow or fewer, refused | between |",
        "|---|---|---|---|",
    ]
    for name, decisions in decided_fleets(BATCH_SEEDS, BATCH_DRIVES).items():
        counts = _decided(decisions)
        accepted, refused, undecided = counts["between"]
        between = f"{accepted} accepted, {refused} refused, {undecided} inconclusive"
        lines.append(f"| {names[name]} | {_decided_text(counts['bad'])} | {_decided_text(counts['good'], is_good=True)} | {between} |")
    lines.append("\nA batch is inconclusive while slow slots could explain the slow drives past what is accepted: swap those drives.")
    return "\n".join(lines)


def _plan_text() -> str:
    chosen = plan(LOT)
    random = np.random.default_rng(1)
    bad, good = (random.hypergeometric(slow, LOT - slow, chosen.sample, DRAWN_BATCHES) <= chosen.accept for slow in (10, 5))
    return (
        f"A batch of {LOT}: measure {chosen.sample}, accept with at most {chosen.accept} slow. Stated risk to accept 10 slow drives (2 %): {chosen.consumer_risk:.2%}, "
        f"to refuse 5 (1 %): {chosen.producer_risk:.2%}. Of {DRAWN_BATCHES:,} drawn batches each, {np.mean(bad):.2%} were accepted and {np.mean(~good):.2%} refused."
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
