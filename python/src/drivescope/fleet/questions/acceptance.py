"""How many drives of a delivered batch must be measured, and is the batch accepted?

A sampling plan by attributes: measure n of N, accept with at most c slow ones. Drives are drawn without replacement, so the
number of slow ones is hypergeometric; nothing is approximated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from ..engine import Engine
from .outliers import outliers


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


def plan(lot: int, share_max: float, confidence: float = 0.95, share_good: float = 0.0, producer_risk: float = 0.05) -> Plan:
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


def batches(engine: Engine, share_max: float = 0.02, confidence: float = 0.95, slower: float = 0.08) -> pd.DataFrame:
    """For each batch: measured, slow, the upper limit of the slow share, and the decision."""
    drives = outliers(engine)
    drives["slow"] = drives["is_outlier"] & (drives["slower"] >= slower) & (drives["cause"] != "slot")
    table = drives.groupby("batch").agg(measured=("serial", "nunique"), slow=("slow", "sum")).reset_index()
    # Clopper and Pearson (1934): exact, one-sided.
    table["share_high"] = stats.beta.ppf(confidence, table["slow"] + 1, np.maximum(table["measured"] - table["slow"], 1e-9))
    table["share_low"] = np.where(table["slow"] > 0, stats.beta.ppf(1 - confidence, table["slow"], table["measured"] - table["slow"] + 1), 0.0)
    table["decision"] = np.select(
        [table["share_high"] < share_max, table["share_low"] > share_max], ["accept", "refuse"], "inconclusive"
    )
    return table.sort_values("share_low", ascending=False, ignore_index=True)
