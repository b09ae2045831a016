"""How long will a rebuild of each array take: capacity over the mean throughput of its slowest member, now and in 90 days.

Only a drive that `drift` finds to change steadily is expected to go on; a step has happened.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..engine import Engine
from ..figures import by_place
from .drift import drift

FORECAST_DAYS = 90


def rebuild(engine: Engine, array: str = "enclosure") -> pd.DataFrame:
    """For each array the hours of a rebuild, the slowest member, and the forecast; longest first."""
    places = by_place(engine, "read-rate-mean")
    places = places[places["n_recent"] >= 1].copy()
    changing = drift(engine)
    changing = changing[changing["has_drifted"] & (changing["kind"] == "slope")].drop_duplicates("serial").set_index("serial")["per_day"]
    trend = places["serial"].map(changing).fillna(0.0).to_numpy(float)
    hours = places["capacity_bytes"] / np.exp(places["y_recent"] / places["n_recent"]) / 3600
    places["hours"] = hours
    places["hours_forecast"] = hours * np.exp(-trend * FORECAST_DAYS)
    slowest = places.loc[places.groupby(array)["hours"].idxmax()]
    forecast = places.groupby(array)["hours_forecast"].max().rename("hours_in_90_days")
    result = slowest[[array, "host", "serial", "model", "hours"]].merge(forecast, on=array)
    result = result.rename(columns={"serial": "slowest_member"})
    return result.sort_values("hours", ascending=False, ignore_index=True)
