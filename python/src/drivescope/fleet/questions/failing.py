"""Which drives fail? Runs and requests that failed, unreadable sectors, lost data, a lost device, or a failure that was reported.

A failing drive need not be slow, so no other question names it. Evidence is that of the last 28 days: what was repaired or
replaced before is no failing drive.
"""

from __future__ import annotations

import ibis
import pandas as pd
from ibis import _

from ..answers import counted
from ..engine import Engine
from ..figures import RECENT_DAYS, last_day

# Findings whose value tells of a failure, the gravest first: what they say, or what they count.
EVIDENCE: dict[str, str | tuple[str, str]] = {
    "device-lost": "device lost",
    "failed": "reported as failed",
    "data-integrity": ("data mismatch", "data mismatches"),
    "bad-blocks": ("unreadable region", "unreadable regions"),
    "failed-requests": ("failed request", "failed requests"),
}


def failing(engine: Engine) -> pd.DataFrame:
    """Drives with evidence of failure, the gravest first: `evidence`, the last run that has it, when it was seen, and the place then."""
    first = last_day(engine) - pd.Timedelta(days=RECENT_DAYS - 1)
    runs = engine.runs.filter((_.date >= ibis.date(str(first.date()))) & ((_.health == "failing") | (_.status == "failed")))
    last = {name: _[name].argmax(_.started) for name in ("host", "rack", "enclosure", "slot", "run_id")}
    drives = runs.group_by(["serial", "model"]).agg(seen=_.date.max(), failed=(_.status == "failed").cast("int64").sum(), **last).to_pandas()
    found = runs.select("serial", "model", finding=_.findings.unnest())
    found = found.select("serial", "model", code=_.finding.code, value=_.finding.value).filter(_.code.isin(list(EVIDENCE)) & (_.value > 0))
    worst = found.group_by(["serial", "model", "code"]).agg(value=_.value.max()).to_pandas()
    # What has no name is found under an empty one.
    for frame in (drives, worst):
        frame[["serial", "model"]] = frame[["serial", "model"]].fillna("")
    of_drive = {drive: dict(zip(part["code"], part["value"])) for drive, part in worst.groupby(["serial", "model"])}
    rows = []
    for row in drives.itertuples(index=False):
        values = of_drive.get((row.serial, row.model), {})
        texts = [said if isinstance(said, str) else counted(round(values[code]), *said) for code, said in EVIDENCE.items() if code in values]
        if row.failed > 0:
            texts.append(counted(row.failed, "failed run"))
        grave = min((rank for rank, code in enumerate(EVIDENCE) if code in values), default=len(EVIDENCE))
        rows.append((grave, "; ".join(texts)))
    drives[["grave", "evidence"]] = pd.DataFrame(rows, columns=["grave", "evidence"], index=drives.index)
    drives["seen"] = pd.to_datetime(drives["seen"])
    drives = drives[drives["evidence"] != ""].sort_values(["grave", "serial", "model"], ignore_index=True)
    return drives[["serial", "model", "host", "rack", "enclosure", "slot", "evidence", "seen", "run_id"]]
