"""`python -m drivescope.fleet.bench LAKE…`: time, memory and scores of all questions on simulated lakes, as the page prints them.

The truth of each lake lies beside it as `LAKE-truth.parquet`. Each lake has a process of its own, so that memory is its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import pandas as pd

from .answers import QUESTIONS, answer
from .engine import DUCKDB, Engine
from .lake import Lake
from .questions.acceptance import plan

TIMEOUT_SECONDS = 900


def main(lakes: list[str]) -> int:
    """Prints the page."""
    print("# Fleet: time, memory and scores\n")
    print("`python -m drivescope.fleet.bench LAKE…` on lakes of `python -m drivescope.fleet sim --seed 1`, 90 days, DuckDB, 2 cores shared with other work.\n")
    print("| drives | runs | histogram buckets | all ten questions | peak memory | FDR of `outliers` (stated 5 %) | recall, ≥ 10 % slow | slot or drive, told right | firmware effects of 3 % found | false firmware effects | SMR, counterfeits |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for lake in lakes:
        done = subprocess.run(
            [sys.executable, "-m", "drivescope.fleet.bench", "--one", lake], timeout=TIMEOUT_SECONDS, capture_output=True, text=True
        )
        print(done.stdout.strip() if done.returncode == 0 else f"| {lake} | failed: {done.stderr[-200:]} |")
    chosen = plan(500, 0.02)
    print(f"\nA batch of 500: measure {chosen.sample} to be 95 % sure that fewer than 2 % are slow (risk {chosen.consumer_risk:.4f}, exact).")
    return 0


def one(place: str) -> str:
    """A row of the table."""
    truth = pd.read_parquet(f"{place}-truth.parquet").set_index("serial")
    begun = time.monotonic()
    engine = Engine.open(Lake.open(place), DUCKDB)
    answers = {question: answer(engine, question) for question in QUESTIONS}
    seconds = time.monotonic() - begun
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    found = answers["outliers"].join(truth, on="serial", rsuffix="_true")
    slow = (found["slower_true"] > 0) | found["bad_slot"]
    listed = found["is_outlier"]
    large = (found["slower_true"] >= 0.1) | found["bad_slot"]
    told = found[listed & slow & found["cause"].isin(["slot", "drive"])]
    right = ((told["cause"] == "slot") == told["bad_slot"]).mean()
    firmware = answers["effects"]
    firmware = firmware[(firmware["factor"] == "firmware") & (firmware["p_adjusted"] < 0.05)]
    true_effects = firmware["level"].str.contains("CC54|NM0007 SN03|MG07ACA14TA 0104").sum()
    claims = f"{len(answers['smr'])} of {truth['smr'].sum()}, {len(answers['counterfeits'])} of {truth['counterfeit'].sum()}"
    runs = engine.connection.raw_sql("SELECT count(*), sum(len(h.buckets)) FROM (SELECT unnest(histograms) AS h FROM runs)").fetchone()
    return (
        f"| {len(truth):,} | {runs[0]:,} | {int(runs[1]):,} | {seconds:.1f} s | {gigabytes:.2f} GB | {(listed & ~slow).sum() / max(listed.sum(), 1):.1%} "
        f"of {listed.sum()} | {listed[large].mean():.1%} of {large.sum()} | {right:.1%} of {len(told)} | {true_effects} of 3 | {len(firmware) - true_effects} | {claims} |"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(one(sys.argv[2]))
    else:
        sys.exit(main(sys.argv[1:]))
