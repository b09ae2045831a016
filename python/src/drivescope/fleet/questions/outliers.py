"""Which drives are slower than their equals, and is it the drive or its slot?

Equals have the same model, capacity and firmware. What racks, hosts, enclosures and slot positions add is removed by
means over drives that median polish (Tukey 1977) finds unremarkable. The scale is robust, too: the upper half of the
residuals, where no slow drive is. One-sided p-values are corrected after Benjamini and Hochberg (1995), so that the
stated share of the drives listed is expected to be sound.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from ..engine import Engine
from ..figures import by_place

FALSE_DISCOVERY_RATE = 0.05
RUNS_MIN = 5
MEMBERS_MIN = 8
POLISH_PASSES = 4
POLISH_DEVIATIONS = 4.0
MEAN_PASSES = 12
# A group needs this many members for a scale of its own: the scale's own error is then below 5 %.
SCALE_MEMBERS_MIN = 500


def outliers(engine: Engine, code: str = "read-rate-outer", rate: float = FALSE_DISCOVERY_RATE) -> pd.DataFrame:
    """All drives that were measured lately, slowest first: `slower`, `z`, `p`, `q`, `is_outlier`, `cause`."""
    higher_is_slower = code in ("access-time", "read-latency")
    return engine.once(f"outliers {code} {rate}", lambda: judge(by_place(engine, code), rate, higher_is_slower)).copy()


def judge(places: pd.DataFrame, rate: float = FALSE_DISCOVERY_RATE, higher_is_slower: bool = False) -> pd.DataFrame:
    """The statistics of `outliers` on sums by place."""
    sign = -1.0 if higher_is_slower else 1.0
    recent = places[places["n_recent"] >= RUNS_MIN].copy().reset_index(drop=True)
    recent["level"] = sign * recent["y_recent"] / recent["n_recent"]
    residual, adjustment, width = adjust(recent)
    scale = scales(residual / width, recent) * width
    recent["slower"] = 1 - np.exp(residual)
    recent["z"] = residual / scale
    recent["p"] = stats.norm.cdf(recent["z"])
    recent["q"] = stats.false_discovery_control(recent["p"]) if len(recent) > 0 else recent["p"]
    recent["is_outlier"] = recent["q"] <= rate
    recent["cause"] = causes(places, recent, adjustment, scale, sign)
    return recent.sort_values("z", ignore_index=True)


def groups(rows: pd.DataFrame) -> list[tuple[str, np.ndarray]]:
    """What may make a place slow, coarse first, each as a number per row."""
    keys = [
        ("equals", ["model", "capacity_bytes", "firmware"]),
        ("rack", ["rack"]),
        ("slot", ["slot"]),
        ("host", ["host"]),
        ("enclosure", ["enclosure"]),
    ]
    return [(name, rows.groupby(columns, dropna=False, sort=True).ngroup().to_numpy()) for name, columns in keys]


def polish(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Residuals without the medians of all groups, and what was removed."""
    level = rows["level"].to_numpy()
    residual = level.copy()
    for number in range(POLISH_PASSES):
        for name, group, usable in _usable_groups(rows):
            median = pd.Series(residual).groupby(group).median().to_numpy()
            residual -= np.where(usable, median, 0.0)[group]
    return residual, level - residual


def adjust(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Residuals without the means of all groups, what was removed, and how much wider than a drive each residual scatters.

    Medians find the drives to leave out, means of the others are removed: what medians leave has tails that are too heavy
    for a normal distribution, since a drive in the middle of its enclosure is its own median.
    """
    level = rows["level"].to_numpy()
    first, _ = polish(rows)
    sound = np.abs(first) <= POLISH_DEVIATIONS * upper_scale(first)
    removed = level - first
    members = _usable_groups(rows)
    for number in range(MEAN_PASSES):
        for name, group, usable in members:
            count = np.bincount(group, weights=sound)
            mean = np.bincount(group, weights=np.where(sound, level - removed, 0.0)) / np.maximum(count, 1)
            removed = removed + np.where(usable & (count >= 1), mean, 0.0)[group]
    width = np.ones(len(level))
    for name, group, usable in members:
        count = np.maximum(np.bincount(group, weights=sound), 2)
        # A drive is part of its group's mean, or beside it.
        wider = np.where(sound, 1 - 1 / count[group], 1 + 1 / count[group])
        width *= np.where(usable[group], wider, 1.0)
    return level - removed, removed, np.sqrt(width)


def _usable_groups(rows: pd.DataFrame) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Groups with enough members: enclosures replace hosts and racks where they have enough themselves."""
    result = []
    for name, group in groups(rows):
        size = np.bincount(group) if len(group) else np.array([0])
        if name == "equals" or len(size) > 1:
            result.append((name, group, size >= (1 if name == "equals" else MEMBERS_MIN)))
    return result


def scales(residual: np.ndarray, rows: pd.DataFrame) -> np.ndarray:
    """Robust standard deviation per model where it has many drives, else of all: from the faster half."""
    group = rows.groupby(["model", "capacity_bytes"], dropna=False, sort=True).ngroup().to_numpy()
    scale = np.full(len(residual), upper_scale(residual))
    for index, size in enumerate(np.bincount(group) if len(group) else []):
        if size >= SCALE_MEMBERS_MIN:
            scale[group == index] = upper_scale(residual[group == index])
    return np.asarray(np.maximum(scale, 1e-6))


def upper_scale(residual: np.ndarray) -> float:
    """Standard deviation of a normal distribution whose median and 84th percentile these are."""
    if len(residual) < 3:
        return float("inf")
    # With 1 to 2 % of slow drives the median itself moves by 0.02 standard deviations; the mode would scatter more.
    return float((np.quantile(residual, 0.8413447) - np.median(residual)))


def causes(
    places: pd.DataFrame, recent: pd.DataFrame, adjustment: np.ndarray, scale: np.ndarray, sign: float
) -> pd.Series:
    """`drive` or `slot` where a swap tells them apart, else `drive or slot`; empty for drives that are no outliers."""
    level = sign * places["y"] / places["n"]
    known = places.assign(level=level)[places["n"] >= RUNS_MIN]
    typical = recent.assign(typical=adjustment).groupby(["model", "firmware"], dropna=False)["typical"].median()
    known = known.join(typical, on=["model", "firmware"])
    # Places a fleet left behind have no polish of their own; 4 standard deviations stand for what racks and slots add.
    known["slow"] = known["level"] - known["typical"] < -4 * float(np.median(scale))
    by_serial: dict[str, list[tuple[tuple[str, int], bool]]] = {}
    by_slot: dict[tuple[str, int], list[tuple[str, bool]]] = {}
    for serial, enclosure, slot, slow in zip(known["serial"], known["enclosure"], known["slot"], known["slow"]):
        by_serial.setdefault(serial, []).append(((enclosure, slot), slow))
        by_slot.setdefault((enclosure, slot), []).append((serial, slow))
    result = np.full(len(recent), "", dtype=object)
    for index in np.flatnonzero(recent["is_outlier"]):
        serial, place = recent["serial"].iat[index], (recent["enclosure"].iat[index], recent["slot"].iat[index])
        elsewhere = [slow for other, slow in by_serial.get(serial, []) if other != place]
        here = [slow for other, slow in by_slot.get(place, []) if other != serial]
        result[index] = _cause(elsewhere, here)
    return pd.Series(result, index=recent.index)


def _cause(drive_elsewhere: list[bool], others_here: list[bool]) -> str:
    if any(drive_elsewhere) and not any(others_here):
        return "drive"
    if any(others_here) and not any(drive_elsewhere):
        return "slot"
    if drive_elsewhere and not any(drive_elsewhere) and not others_here:
        return "slot"
    return "drive or slot"
