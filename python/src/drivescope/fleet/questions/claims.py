"""What is not as sold: throughput below the data sheet, SMR drives under a CMR model, counterfeit capacity."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..engine import Engine
from ..figures import by_place, measured, sums

CAPACITY_SHARE_MIN = 0.99
SMR_SHARE_MAX = 0.2


def data_sheet(engine: Engine, sheet: pd.DataFrame) -> pd.DataFrame:
    """Measured outer throughput of each model against the column `bytes_per_second` of a sheet with a row per `model`."""
    places = by_place(engine, "read-rate-outer")
    places = places[places["n_recent"] > 0]
    level = places["y_recent"] / places["n_recent"]
    rows = level.groupby(places["model"]).agg(["size", "median", "std"]).reset_index()
    rows.columns = ["model", "drives", "median", "deviation"]
    rows = rows.merge(sheet[["model", "bytes_per_second"]], on="model")
    # The median of a normal sample scatters 1.253 times as far as its mean.
    error = 1.253 * rows["deviation"].fillna(np.inf) / np.sqrt(rows["drives"])
    rows["measured_rate"] = np.exp(rows["median"])
    rows["low_rate"], rows["high_rate"] = np.exp(rows["median"] - 1.96 * error), np.exp(rows["median"] + 1.96 * error)
    rows["decision"] = np.select(
        [rows["low_rate"] >= rows["bytes_per_second"], rows["high_rate"] < rows["bytes_per_second"]], ["as stated", "below"], "inconclusive"
    )
    return rows[["model", "drives", "bytes_per_second", "measured_rate", "low_rate", "high_rate", "decision"]]


def smr(engine: Engine) -> pd.DataFrame:
    """Drives found to be SMR although most drives of their model are not."""
    kinds = measured(sums(engine, "recording-kind"), "the finding recording-kind", "check")
    frame = _drives(kinds, ["serial", "model"], smr=("smr", "sum"), runs=("words", "sum"))
    frame["is_smr"] = 2 * frame["smr"] > frame["runs"]
    share = frame.groupby("model")["is_smr"].transform("mean")
    return frame[frame["is_smr"] & (share <= SMR_SHARE_MAX)].reset_index(drop=True)


def counterfeits(engine: Engine) -> pd.DataFrame:
    """Drives whose true capacity is less than 99 % of what they report."""
    held = measured(sums(engine, "capacity-true"), "the finding capacity-true", "verify")
    frame = _drives(held, ["serial", "model", "capacity_bytes"], held_bytes=("value_min", "min"))
    return frame[frame["held_bytes"] < CAPACITY_SHARE_MIN * frame["capacity_bytes"]].reset_index(drop=True)


def _drives(places: pd.DataFrame, identity: list[str], **figures: tuple[str, str]) -> pd.DataFrame:
    """A row per drive, with the place where it was measured last."""
    last = {column: (column, "last") for column in ("host", "enclosure", "slot")}
    drives = places.sort_values(["serial", "last"]).groupby(identity, dropna=False)
    return drives.agg(**figures, **last).reset_index().sort_values("serial", ignore_index=True)
