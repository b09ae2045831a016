"""How long do drives live without slow regions, unreadable sectors or failure? Kaplan and Meier (1958), by model; drives without any are censored."""

from __future__ import annotations

import pandas as pd
from ibis import _
from statsmodels.duration.survfunc import SurvfuncRight

from ..engine import Engine
from ..figures import findings, measured


def survival(engine: Engine, code: str = "slow-regions") -> pd.DataFrame:
    """For each model: drives, drives in which `code` was found, and the share without after 30, 60 and 90 days, with intervals."""
    rows = findings(engine, code)
    found = _.value > 0
    drives = rows.group_by(["model", "serial"]).agg(
        first=_.date.min(), last=_.date.max(), seen=found.cast("int64").sum(), event=found.ifelse(_.date, None).min()
    )
    frame = measured(drives.to_pandas(), f"the finding {code}", "surface")
    frame["event"] = pd.to_datetime(frame["event"])
    end = frame["event"].fillna(pd.to_datetime(frame["last"]))
    # The day of the first measurement counts: an event on it is one after less than a day.
    frame["days"] = (end - pd.to_datetime(frame["first"])).dt.days + 1
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
