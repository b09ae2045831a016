"""How many drives of a delivered batch must be measured, and is the batch accepted?

A sampling plan by attributes: measure n of N, accept with at most c slow ones. It has two points: a bad batch, with 2 % slow drives,
is accepted in at most 5 % of cases (consumer's risk), a good one, with 1 %, refused in at most 5 % (producer's risk). One limit for both
would leave every batch near it undecided, however many drives are measured; between the points a batch may be decided either way.

Drives are drawn without replacement, so the number of slow ones is hypergeometric, for the plan and for the limits of what was
measured. A drive that is slow or in a slow slot counts as slow against accepting; against refusing only as far as the slow slots of the
other batches do not explain it. With the sample of `plan`, c + 1 slow ones refuse a batch, so that only slow slots leave it undecided.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ..engine import Engine
from ..lake import LakeError
from .outliers import outliers

# A drive is slow from here on: far from the scatter of sound ones, whose standard deviation is 1 to 2 %.
SLOWER_MIN = 0.08
# Shares of slow drives of a bad batch and of a good one.
SHARE_MAX, SHARE_GOOD = 0.02, 0.01
# Limits of batches of this size are those of any larger one, to 1 part in 1,000.
LOT_UNKNOWN = 1_000_000


@dataclass(frozen=True)
class Plan:
    """Measure `sample` of `lot` drives and accept with at most `accept` slow ones."""

    lot: int
    sample: int
    accept: int
    consumer_risk: float
    producer_risk: float


def accepted(lot: int, slow: int, sample: int, accept: int) -> float:
    """The chance that a batch with `slow` slow drives is accepted: the operating characteristic."""
    return float(stats.hypergeom.cdf(accept, lot, slow, sample))


def plan(lot: int, share_max: float = SHARE_MAX, confidence: float = 0.95, share_good: float = SHARE_GOOD, producer_risk: float = 0.05) -> Plan:
    """The smallest sample that proves fewer than `share_max` slow drives, and accepts batches with `share_good`."""
    if lot < 1 or not 0 < share_max <= 1 or not 0 < confidence < 1 or not 0 <= share_good < share_max:
        raise ValueError("a plan needs 1 drive or more, 0 <= share_good < share_max <= 1 and a confidence between 0 and 1")
    bad = int(np.ceil(share_max * lot - 1e-9))
    good = int(np.floor(share_good * lot + 1e-9))
    for accept in range(0, bad):
        samples = np.arange(1, lot + 1)
        risk = stats.hypergeom.cdf(accept, lot, bad, samples)
        sample = int(samples[np.argmax(risk <= 1 - confidence)])
        refused = 1 - accepted(lot, good, sample, accept)
        if refused <= producer_risk:
            return Plan(lot, sample, accept, float(risk[sample - 1]), refused)
    return Plan(lot, lot, bad - 1, 0.0, 0.0)


def batches(engine: Engine, lot: int | None = None) -> pd.DataFrame:
    """For each batch of `lot` drives: measured, slow, the limits of the slow share, and the decision; without `lot` for batches of any size."""
    return decide(outliers(engine), lot)


def decide(drives: pd.DataFrame, lot: int | None, confidence: float = 0.95) -> pd.DataFrame:
    """The statistics of `batches` on the rows of `outliers`."""
    slow = drives["is_outlier"] & (drives["slower"] >= SLOWER_MIN)
    places = drives.assign(slow=slow & (drives["cause"] != "slot"), undecided=slow & (drives["cause"] == "drive or slot"))
    # A drive that was moved has a row for each place.
    each = places.groupby(["batch", "serial"])[["slow", "undecided"]].max().reset_index()
    table = each.groupby("batch").agg(measured=("serial", "size"), slow=("slow", "sum"), undecided=("undecided", "sum")).reset_index()
    table["slots"] = _slow_slots(table, _slot_share(drives[slow]))
    if lot is not None and (table["measured"] > lot).any():
        large = table.loc[table["measured"].idxmax()]
        raise LakeError(f"cannot judge batch {large['batch']}: {large['measured']} of its drives were measured, more than the {lot} delivered. Give --lot {large['measured']}.")
    limits = [_limits(lot or LOT_UNKNOWN, row, 1 - confidence) for row in table.itertuples()]
    table["share_low"], table["share_high"], table["decision"] = zip(*limits) if limits else ([], [], [])
    return table.sort_values(["share_low", "batch"], ascending=[False, True], ignore_index=True)


def by_truth(decisions: pd.DataFrame, truth: pd.DataFrame, lot: int, sample: int) -> pd.DataFrame:
    """Decisions on batches of `lot` drives, `sample` of them measured, with what is true of each: `slow_true`, counted at the limit of the question."""
    true = truth.assign(slow_true=truth["below_equals"] >= SLOWER_MIN).groupby("batch")["slow_true"].agg(["size", "sum"])
    joined = decisions.join(true.rename(columns={"sum": "slow_true"}), on="batch")
    return joined[(joined["size"] == lot) & (joined["measured"] == sample)]


def _slot_share(slow: pd.DataFrame) -> float:
    """The share of slots among slow drives and slots, at most: the upper limit of what swaps told."""
    slots, drives = int((slow["cause"] == "slot").sum()), int((slow["cause"] == "drive").sum())
    return float(stats.beta.ppf(0.95, slots + 1, drives)) if drives else 1.0


def _slow_slots(table: pd.DataFrame, slot_share: float) -> pd.Series:
    """How many drives of each batch are expected in slow slots. Slots know no batches, so the other batches tell."""
    others = table["measured"].sum() - table["measured"]
    rate = (table["undecided"].sum() - table["undecided"]) / others.where(others > 0)
    return rate.fillna(0.0) * slot_share * table["measured"]


def _limits(lot: int, batch: Any, risk: float) -> tuple[float, float, str]:
    """Limits of the slow share of the whole batch, each wrong with this risk, and the decision."""
    unmeasured = lot - batch.measured
    range_of_slow = range(0, unmeasured + batch.slow + 1)
    # The fewest slow drives with which, and with slow slots, as many would be found; the most with which as few would.
    low = bisect_left(range_of_slow, True, key=lambda slow: _found_at_least(lot, slow, batch) > risk)
    high = bisect_left(range_of_slow, True, key=lambda slow: accepted(lot, slow, batch.measured, batch.slow) <= risk) - 1
    bad, good = int(np.ceil(SHARE_MAX * lot - 1e-9)), int(np.floor(SHARE_GOOD * lot + 1e-9))
    decision = "accept" if high < bad else "refuse" if low > good else "inconclusive"
    return low / lot, high / lot, decision


def _found_at_least(lot: int, slow: int, batch: Any) -> float:
    """The chance to find as many as in this batch: slow drives of the sample, and the undecided ones that slow slots make."""
    below = np.concatenate([[0.0], np.cumsum(stats.hypergeom.pmf(np.arange(batch.slow), lot, slow, batch.measured))])
    slots = stats.poisson.pmf(np.arange(batch.undecided + 1), batch.slots)
    slots[-1] = 1 - slots[:-1].sum()
    return float(1 - slots @ below[batch.slow - np.arange(batch.undecided + 1)])
