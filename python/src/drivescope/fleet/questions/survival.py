"""How long do drives live without slow regions, unreadable sectors or failure? Kaplan and Meier (1958), by model; drives without any are censored."""

from __future__ import annotations

import pandas as pd
from statsmodels.duration.survfunc import SurvfuncRight

from ..engine import Engine
from ..figures import measured, sums


def survival(engine: Engine, code: str = "slow-regions") -> pd.DataFrame:
    """For each model: drives, drives in which `code` was found, and the share without after 30, 60 and 90 days, with intervals."""
    places = measured(sums(engine, code), f"the finding {code}", "surface")
    drives = places.groupby(["model", "serial"], dropna=False)
    frame = drives.agg(first=("first", "min"), last=("last", "max"), seen=("n", "sum"), event=("event", "min")).reset_index()
    end = frame["event"].fillna(frame["last"])
    # The day of the first measurement counts: an event on it is one after less than a day.
    frame["days"] = (end - frame["first"]).dt.days + 1
    result = []
    for model, part in frame.groupby("model", sort=True):
        curve = SurvfuncRight(part["days"], (part["seen"] > 0).astype(int))
        row = {"model": model, "drives": len(part), "with_events": int((part["seen"] > 0).sum())}
        for day in (30, 60, 90):
            index = (curve.surv_times <= day).sum() - 1
            row[f"share_{day}"] = float(curve.surv_prob[index]) if index >= 0 else 1.0
            row[f"error_{day}"] = float(curve.surv_prob_se[index]) if index >= 0 else 0.0
        result.append(row)
    return pd.DataFrame(result)
