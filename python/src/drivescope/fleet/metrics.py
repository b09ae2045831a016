"""The answers about a fleet as OpenMetrics text, for the textfile collector of node_exporter and a dashboard over it.

Names of models and firmware come from drives: their number is bounded, so that no host can fill a Prometheus with series.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from ibis import _

from .answers import QUESTIONS, answer, listed
from .engine import Engine
from .lake import LakeError

MODELS_MAX = 100
EFFECTS_MAX = 100
OTHER = "other"
CAUSES = ("drive", "slot", "drive or slot")
DECISIONS = ("accept", "refuse", "inconclusive")
# Not the label `quantile`: it belongs to summaries, says promtool.
PERCENTILES = {"median": "50", "p99": "99", "p999": "99.9"}
# Each family, its unit, and what it tells.
FAMILIES = {
    "drives": ("", "Drives of this model in the lake."),
    "runs": ("", "Runs of this model in the lake."),
    "hosts": ("", "Hosts in the lake."),
    "last_run_timestamp_seconds": ("seconds", "When the last run of this model began, since 1970."),
    "question_answered": ("", "1 if the lake has what this question needs; 0 if its metrics are not measured."),
    "failing_drives": ("", "Drives with failed runs, failed requests, unreadable sectors, lost data or a lost device in 28 days."),
    "slow_drives": ("", "Drives slower than their equals, by cause."),
    "excess_latency_drives": ("", "Drives with more latency than their throughput explains."),
    "changed_drives": ("", "Drives whose throughput changed."),
    "firmware_effect_ratio": ("ratio", "Throughput of a firmware version against the first one of its model, less 1. Significant ones only."),
    "batches": ("", "Batches by decision."),
    "counterfeit_drives": ("", "Drives that hold less than they report."),
    "smr_drives": ("", "SMR drives under a model that is not."),
    "read_latency_seconds": ("seconds", "Read latency of the last 7 days, of merged histograms."),
}
BY_MODEL = {
    "failing": "failing_drives", "fail-slow": "excess_latency_drives", "drift": "changed_drives", "counterfeits": "counterfeit_drives", "smr": "smr_drives",
}

Sample = tuple[dict[str, str], float]


def metrics(engine: Engine, lot: int | None = None) -> str:
    """All families that the lake can tell, as a text that ends with `# EOF`. `lot` is the size of batches."""
    totals = engine.runs.group_by("model").agg(drives=_.serial.nunique(), runs=_.count(), last=_.started.max()).to_pandas()
    totals["model"] = totals["model"].fillna("")
    totals = totals.sort_values(["drives", "model"], ascending=[False, True])
    models = totals["model"].head(MODELS_MAX).tolist()
    shown = totals.assign(model=_bounded(totals["model"], models)).groupby("model", sort=True)
    families: dict[str, list[Sample]] = {
        "drives": [({"model": model}, float(part["drives"].sum())) for model, part in shown],
        "runs": [({"model": model}, float(part["runs"].sum())) for model, part in shown],
        "hosts": [({}, float(engine.runs.host.nunique().execute()))],
        "last_run_timestamp_seconds": [({"model": model}, pd.Timestamp(part["last"].max()).timestamp()) for model, part in shown],
        "question_answered": [],
    }
    for question in QUESTIONS:
        try:
            rows = answer(engine, question, lot if question == "batches" else None)
        except LakeError:
            families["question_answered"].append(({"question": question}, 0.0))
            continue
        families["question_answered"].append(({"question": question}, 1.0))
        families.update(_answered(question, rows, models))
    lines = [line for name, (unit, text) in FAMILIES.items() if name in families for line in _family(name, unit, text, families[name])]
    return "\n".join([*lines, "# EOF", ""])


def _answered(question: str, rows: pd.DataFrame, models: list[str]) -> dict[str, list[Sample]]:
    """The families that the answer to one question fills; `survival` and `rebuild` are for reading, not for alerts."""
    if question in BY_MODEL:
        found = listed(question, rows)
        return {BY_MODEL[question]: [({"model": model}, float(count)) for model, count in _count(found["model"], models)]}
    if question == "outliers":
        slow = rows[rows["is_outlier"]]
        counts = [(cause, model, count) for cause in CAUSES for model, count in _count(slow.loc[slow["cause"] == cause, "model"], models)]
        return {"slow_drives": [({"model": model, "cause": cause}, float(count)) for cause, model, count in counts]}
    if question == "effects":
        firmware = rows[rows["is_significant"] & (rows["factor"] == "firmware")].head(EFFECTS_MAX)
        return {"firmware_effect_ratio": [({"firmware": level}, effect) for level, effect in zip(firmware["level"], firmware["effect"])]}
    if question == "batches":
        return {"batches": [({"decision": decision}, float((rows["decision"] == decision).sum())) for decision in DECISIONS]}
    if question == "latency":
        known = rows[rows["model"].isin(models)].to_dict("records")
        return {"read_latency_seconds": [({"model": row["model"], "percentile": text}, row[name]) for row in known for name, text in PERCENTILES.items()]}
    return {}


def _bounded(names: pd.Series, models: list[str]) -> pd.Series:
    names = names.fillna("")
    return names.where(names.isin(models), OTHER)


def _count(names: pd.Series, models: list[str]) -> list[tuple[str, int]]:
    """How many drives of each model: 0 for those without any, so that an alert can end."""
    counts = _bounded(names, models).value_counts()
    return [(model, int(counts.get(model, 0))) for model in sorted({*models, *counts.index})]


def _family(name: str, unit: str, text: str, samples: Iterable[Sample]) -> list[str]:
    full = f"drivescope_fleet_{name}"
    head = [f"# HELP {full} {text}", f"# TYPE {full} gauge", *([f"# UNIT {full} {unit}"] if unit else [])]
    return head + [f"{full}{_labels(labels)} {value!r}" for labels, value in samples]


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
