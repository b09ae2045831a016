"""Which drives answer later than the throughput they carry explains (fail-slow)?

As Perseus does (Lu et al., FAST '23), latency is regressed on throughput, here for all drives of a model: a parabola in
the logarithm of latency. A drive whose recent windows lie above the curve of its equals is fail-slow. The curve comes from
sums that the engine makes, so that all windows of all days take part.
"""

from __future__ import annotations

import ibis
import numpy as np
import pandas as pd
from ibis import _
from scipy import stats

from ..engine import Engine
from ..figures import RECENT_DAYS, last_day, measured
from .outliers import FALSE_DISCOVERY_RATE, upper_scale

WINDOWS_MIN = 20
UNIT_BYTES_PER_SECOND = 1e8
# Less than this is no failure: it is what firmware and place do.
SLOWER_MIN = 0.1
# Multiples of the median drive of a model, of squared load and of latency, past which a drive has no part in the curve.
LOAD_MAX, LATENCY_MAX = 100.0, 10.0


def fail_slow(engine: Engine, rate: float = FALSE_DISCOVERY_RATE) -> pd.DataFrame:
    """Drives by excess latency, worst first: `excess`, `z`, `p`, `q`, `is_fail_slow`."""
    x, y = _.x, _.y
    first = pd.Timestamp(last_day(engine)) - pd.Timedelta(days=RECENT_DAYS - 1)
    windows = _windows(engine).mutate(r=(_.date >= ibis.date(str(first.date()))).cast("float64"))
    # All days for the curve of the equals, recent ones for the drive, in one pass.
    drives = (
        windows.group_by(["model", "serial"])
        .agg(
            all_n=y.count().cast("float64"),
            all_x1=x.sum(), all_x2=(x**2).sum(), all_x3=(x**3).sum(), all_x4=(x**4).sum(),
            all_y0=y.sum(), all_y1=(x * y).sum(), all_y2=(x**2 * y).sum(),
            n=_.r.sum(), x1=(_.r * x).sum(), x2=(_.r * x**2).sum(), y0=(_.r * y).sum(),
        )
        .to_pandas()
        .sort_values(["model", "serial"], ignore_index=True)
    )
    measured(drives, "throughput and latency of phases", "access")
    coefficient = _curves(drives).reindex(drives["model"]).to_numpy()
    drives = drives.assign(c0=coefficient[:, 0], c1=coefficient[:, 1], c2=coefficient[:, 2])
    drives = drives[drives["n"] > 0].reset_index(drop=True)
    coefficient = drives[["c0", "c1", "c2"]].to_numpy()
    expected = coefficient[:, 0] + (coefficient[:, 1] * drives["x1"] + coefficient[:, 2] * drives["x2"]) / drives["n"]
    excess = drives["y0"] / drives["n"] - expected
    excess -= excess.groupby(drives["model"]).transform("median")
    scale = excess.groupby(drives["model"]).transform(lambda values: upper_scale(-values.to_numpy()))
    drives["excess"] = np.expm1(excess)
    drives["z"] = excess / scale
    drives = drives[drives["n"] >= WINDOWS_MIN].copy()
    drives["p"] = stats.norm.sf(drives["z"])
    drives["q"] = stats.false_discovery_control(drives["p"]) if len(drives) > 0 else drives["p"]
    drives["is_fail_slow"] = (drives["q"] <= rate) & (drives["excess"] >= SLOWER_MIN)
    return drives.sort_values("z", ascending=False, ignore_index=True)[
        ["serial", "model", "excess", "z", "p", "q", "is_fail_slow"]
    ]


def _windows(engine: Engine) -> ibis.Table:
    rows = engine.runs.select("serial", "model", "date", window=_.windows.unnest())
    rows = rows.filter((_.window.bytes_per_second > 0) & (_.window.latency_seconds > 0))
    return rows.select(
        "serial", "model", "date", x=_.window.bytes_per_second / UNIT_BYTES_PER_SECOND, y=_.window.latency_seconds.ln()
    )


def _curves(drives: pd.DataFrame) -> pd.DataFrame:
    """The curve of each model, of drives whose load and latency are like those of their equals: no drive bends it by what it sends."""
    sums = drives.set_index("model").filter(like="all_").rename(columns=lambda name: name.removeprefix("all_"))
    load = sums["x2"] / sums["n"]
    sums = sums[(load <= LOAD_MAX * load.groupby("model").transform("median")) & np.isfinite(sums).all(axis=1)]
    latency = sums["y0"] / sums["n"]
    middle = latency.groupby("model").transform("median")
    sums = sums[(latency - middle).abs() <= np.log(LATENCY_MAX)]
    return sums.groupby("model").sum().apply(_curve, axis=1, result_type="expand")


def _curve(sums: pd.Series) -> np.ndarray:
    """Coefficients of the least-squares parabola."""
    n, x1, x2, x3, x4 = sums["n"], sums["x1"], sums["x2"], sums["x3"], sums["x4"]
    # In units of the mean throughput, so that a slow fleet is fitted as well as a fast one.
    unit = np.array([1.0, n / x1, (n / x1) ** 2])
    matrix = np.array([[n, x1, x2], [x1, x2, x3], [x2, x3, x4]]) * np.outer(unit, unit)
    right = np.array([sums["y0"], sums["y1"], sums["y2"]]) * unit
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0] * unit)
