"""The figures of each drive, summed by the engine: from here on a fleet is a table with a row per drive and place.

Sums of logarithms merge exactly and in any order, so both engines agree to rounding, and a fleet of 10 million runs
becomes a table that fits into memory.
"""

from __future__ import annotations

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from ibis import _

from .engine import Engine
from .lake import LakeError

PLACE = ["serial", "model", "firmware", "capacity_bytes", "host", "rack", "enclosure", "slot", "batch"]
RECENT_DAYS = 28
# The places, firmware versions and names of a drive that count, the most measured ones: no host can make the fleet larger than it is.
PLACES_MAX = 8


# Findings that questions begin with: one pass over the lake sums them all.
CODES = ("read-rate-outer", "read-rate-mean", "slow-regions", "bad-blocks", "failed", "recording-kind", "capacity-true")


def findings(engine: Engine, *codes: str) -> ibis.Table:
    """One row per run and finding of these codes, conclusive ones only."""
    # `unnest` of a column, not of a table: DuckDB runs the latter as a join, ten times slower.
    rows = engine.runs.select(*PLACE, "date", finding=_.findings.unnest())
    return rows.select(
        *PLACE, "date", code=_.finding.code, value=_.finding.value, value_text=_.finding.value_text
    ).filter(_.code.isin(codes))


def measured(frame: pd.DataFrame, what: str, command: str) -> pd.DataFrame:
    """The frame; LakeError when it is empty, since nothing found is not the same as nothing looked for."""
    if len(frame) == 0:
        raise LakeError(f"cannot tell: no run of this lake has {what}. Measure it: drivescope {command} DRIVE")
    return frame


def last_day(engine: Engine) -> pd.Timestamp:
    return engine.once("last day", lambda: pd.Timestamp(engine.runs.date.max().execute()))


def by_place(engine: Engine, code: str) -> pd.DataFrame:
    """For each drive in each slot: number, mean and scatter of log values, recent ones apart, and the slope per day."""
    return engine.once(f"sums of {code}", lambda: _by_place(engine, code)).copy()


def _by_place(engine: Engine, code: str) -> pd.DataFrame:
    frame = sums(engine, code)
    measured(frame[frame["n"] > 0], f"the finding {code}", "surface")
    columns = [*PLACE, "n", "y", "yy", "t", "tt", "ty", "n_recent", "y_recent"]
    # The order of rows is no engine's business, so it is made here.
    frame = frame.loc[frame["n"] > 0, columns].sort_values(["n_recent", "n"], ascending=False)
    frame = frame[frame.groupby("serial", dropna=False).cumcount() < PLACES_MAX].sort_values(["serial", "enclosure", "slot"], ignore_index=True)
    # As numbers with gaps: not every drive says its capacity.
    return frame.astype({"capacity_bytes": "float64", "slot": "float64"})


def sums(engine: Engine, code: str) -> pd.DataFrame:
    """A row per place for one code: sums of log values, dates, and what a value or word was. All of `CODES` share one pass."""
    codes = CODES if code in CODES else (code,)
    table = engine.once(f"sums of {codes}", lambda: _sums(engine, codes))
    return table.filter(pc.field("code") == code).to_pandas(date_as_object=False)


def _sums(engine: Engine, codes: tuple[str, ...]) -> pa.Table:
    day = _.date.delta(ibis.date("1970-01-01"), unit="day").cast("float64")
    last = (last_day(engine) - pd.Timestamp("1970-01-01")).days
    is_positive = _.value > 0
    # Branches, not a filter: values of 0 have no logarithm, but a date.
    rows = findings(engine, *codes).mutate(y=is_positive.ifelse(_.value.ln(), None), t=is_positive.ifelse(day - float(last), None))
    rows = rows.mutate(r=(_.t > -RECENT_DAYS).cast("float64"))
    expression = rows.group_by([*PLACE, "code"]).agg(
        n=_.y.count().cast("float64"),
        y=_.y.sum(),
        yy=(_.y * _.y).sum(),
        t=_.t.sum(),
        tt=(_.t * _.t).sum(),
        ty=(_.t * _.y).sum(),
        n_recent=_.r.sum(),
        y_recent=(_.r * _.y).sum(),
        value_min=_.value.min(),
        first=_.date.min(),
        last=_.date.max(),
        event=is_positive.ifelse(_.date, None).min(),
        smr=(_.value_text == "smr").cast("int64").sum(),
        words=_.value_text.count(),
    )
    return expression.to_pyarrow()


def daily(engine: Engine, code: str, serials: list[str]) -> pd.DataFrame:
    """For each of these drives and each day the mean log value."""
    rows = findings(engine, code).filter(_.serial.isin(serials) & (_.value > 0))
    series = rows.group_by(["serial", "date"]).agg(y=_.value.ln().mean()).to_pandas()
    return series.sort_values(["serial", "date"], ignore_index=True)


def by_drive(places: pd.DataFrame) -> pd.DataFrame:
    """The same for each drive, over all slots it was in."""
    sums = ["n", "y", "yy", "t", "tt", "ty", "n_recent", "y_recent"]
    identity = ["serial", "model", "capacity_bytes"]
    return places.groupby(identity, dropna=False)[sums].sum().reset_index()


def slope(sums: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slope per day of the log value, its standard error and the degrees of freedom."""
    n = sums["n"].to_numpy()
    sxx = sums["tt"].to_numpy() - sums["t"].to_numpy() ** 2 / n
    sxy = sums["ty"].to_numpy() - sums["t"].to_numpy() * sums["y"].to_numpy() / n
    syy = sums["yy"].to_numpy() - sums["y"].to_numpy() ** 2 / n
    freedom = n - 2
    with np.errstate(divide="ignore", invalid="ignore"):
        b = sxy / sxx
        error = np.sqrt(np.maximum(syy - b * sxy, 0) / freedom / sxx)
    return b, error, freedom
