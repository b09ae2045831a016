"""Which drives change over time, and on which day?

The trend of each drive's log throughput is tested against the scatter of its own runs (Student's t), minus the trend of
its equals, and corrected after Benjamini and Hochberg. For drives that changed, the day is the one at which two levels fit
best (maximum F over all days, Quandt 1960), if that beats a straight line.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from ..engine import Engine
from ..figures import by_drive, by_place, daily, slope
from .outliers import FALSE_DISCOVERY_RATE

CHANGE_MIN = 0.03
RUNS_MIN = 10
SERIES_MAX = 5000


def drift(engine: Engine, code: str = "read-rate-outer", rate: float = FALSE_DISCOVERY_RATE) -> pd.DataFrame:
    """Drives by change over the time measured, worst first: `change`, `per_day`, `p`, `q`, `has_drifted`, `kind`, `day`."""
    return engine.once(f"drift {code} {rate}", lambda: _drift(engine, code, rate)).copy()


def _drift(engine: Engine, code: str, rate: float) -> pd.DataFrame:
    places = by_place(engine, code)
    # A drive that was moved has two levels that are none of its own.
    moved = places.groupby("serial")["serial"].transform("size") > 1
    drives = by_drive(places[~moved])
    drives = drives[drives["n"] >= RUNS_MIN].reset_index(drop=True)
    per_day, error, freedom = slope(drives)
    days = np.sqrt(12 * np.maximum(drives["tt"] / drives["n"] - (drives["t"] / drives["n"]) ** 2, 0))
    peers = pd.Series(per_day).groupby(drives["model"]).transform("median").to_numpy()
    per_day = per_day - peers
    drives["per_day"] = per_day
    drives["change"] = np.expm1(per_day * days)
    drives["p"] = np.nan_to_num(2 * stats.t.sf(np.abs(per_day) / np.maximum(error, 1e-15), freedom), nan=1.0)
    drives["q"] = stats.false_discovery_control(drives["p"]) if len(drives) > 0 else drives["p"]
    drives["has_drifted"] = (drives["q"] <= rate) & (drives["change"].abs() >= CHANGE_MIN)
    drives = drives.sort_values("change", ignore_index=True)
    drives["kind"], drives["day"] = "", pd.NaT
    suspects = drives[drives["has_drifted"]].head(SERIES_MAX)
    if len(suspects) > 0:
        row_of = pd.Series(suspects.index, index=suspects["serial"])
        for serial, part in daily(engine, code, suspects["serial"].tolist()).groupby("serial"):
            values, row = part["y"].to_numpy(), row_of[serial]
            kind, position = change_point(values)
            drives.loc[row, "kind"] = kind
            if kind == "step":
                drives.loc[row, "day"] = pd.Timestamp(part["date"].iloc[position])
                # A line through a step is steeper than the step is high.
                drives.loc[row, "change"] = np.expm1(values[position:].mean() - values[:position].mean())
    return drives.sort_values("change", ignore_index=True)[
        ["serial", "model", "change", "per_day", "p", "q", "has_drifted", "kind", "day"]
    ]


def change_point(values: np.ndarray) -> tuple[str, int]:
    """`step` and its first index, or `slope`: whichever leaves the smaller sum of squares."""
    n = len(values)
    if n < 4:
        return "slope", 0
    head, total = np.cumsum(values)[:-1], values.sum()
    left = np.arange(1, n)
    between = head**2 / left + (total - head) ** 2 / (n - left)
    usable = (left >= 2) & (n - left >= 2)
    best = int(np.argmax(np.where(usable, between, -np.inf)))
    step_rest = (values**2).sum() - between[best]
    time = np.arange(n)
    line_rest = ((values - np.polyval(np.polyfit(time, values, 1), time)) ** 2).sum()
    return ("step", best + 1) if step_rest < line_rest else ("slope", 0)
