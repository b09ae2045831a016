"""Latency percentiles of each model from merged histograms: exact counts, no percentile of percentiles."""

from __future__ import annotations

import ibis
import pandas as pd
from ibis import _

from ..engine import Engine
from ..figures import last_day, measured
from ..histogram import quantile_ns

DAYS = 7


def latency(engine: Engine, days: int = DAYS) -> pd.DataFrame:
    """Median, p99 and p99.9 of reads in seconds, of the last `days` days."""
    first = pd.Timestamp(last_day(engine)) - pd.Timedelta(days=days - 1)
    rows = engine.runs.filter(_.date >= ibis.date(str(first.date()))).select("model", histogram=_.histograms.unnest())
    cells = rows.filter(_.histogram.operation == "read").select("model", cell=_.histogram.buckets.unnest())
    merged = cells.select("model", bucket=_.cell.bucket, count=_.cell["count"]).group_by(["model", "bucket"]).agg(count=_["count"].sum())
    frame = measured(merged.to_pandas(), "histograms of reads", "access")
    result = []
    for model, part in frame.groupby("model", sort=True):
        row = {"model": model, "requests": int(part["count"].sum())}
        for name, share in (("median", 0.5), ("p99", 0.99), ("p999", 0.999)):
            row[name] = quantile_ns(part["bucket"], part["count"].astype("int64"), share) * 1e-9
        result.append(row)
    return pd.DataFrame(result)
