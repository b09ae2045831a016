"""The report of a fleet as one HTML file: the map of racks and slots, the ranking, and the evidence of each outlier.

All texts come from drives and hosts and are escaped by markupsafe; the page has no script and loads nothing, and its policy
forbids both. The map has one picture cell per drive as a path per colour, so that 100,000 drives stay one small file.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from .commands import QUESTIONS, answer
from .engine import Engine

# Slower than its equals by standard deviations, worst first, with the colour of its cells.
CLASSES = (("slow drive", "#c62828"), ("slow slot", "#6a1b9a"), ("slow: drive or slot", "#ef6c00"), ("not listed", "#90a4ae"))
ROWS_MAX = 500
CELL, GAP, RACKS_PER_ROW = 4, 6, 40

STYLE = """body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#212121}
table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #e0e0e0}
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}.key span{display:inline-block;width:.8em;height:.8em;margin:0 .4em 0 1em}"""


def report(engine: Engine) -> str:
    """The page."""
    answers = {question: answer(engine, question) for question in QUESTIONS}
    outliers = answers["outliers"]
    listed = outliers[outliers["is_outlier"]]
    effects = answers["effects"]
    significant = effects.fixed[effects.fixed["p_adjusted"] < 0.05]
    parts = [
        _heading(outliers, listed, answers),
        Markup("<h2>Racks and slots</h2><p>One column per rack, one line per enclosure, one cell per slot.</p>"),
        _key(),
        _map(outliers),
        Markup("<h2>Slow drives and slots</h2><p>Against drives of the same model, capacity and firmware, less rack, host, "
               "enclosure and slot. False discovery rate 5 %. A swap tells a drive from its slot.</p>"),
        _outliers(listed),
        Markup("<h2>Effects of firmware and slots</h2><p>95 % CI; p-values after Holm below 0.05.</p>"),
        _table(significant, ["level", "effect", "low", "high"], percent=["effect", "low", "high"]),
        Markup("<h2>Variation between drives</h2>"),
        _table(effects.variance, ["factor", "deviation", "share"], percent=["deviation", "share"]),
    ]
    lists = [
        ("Latency past what throughput explains", answers["fail-slow"].query("is_fail_slow"), ["serial", "model", "excess", "z"], ["excess"]),
        ("Drives that changed", answers["drift"].query("has_drifted"), ["serial", "model", "change", "kind", "day"], ["change"]),
        ("Batches", answers["batches"], ["batch", "measured", "slow", "share_low", "share_high", "decision"], ["share_low", "share_high"]),
        ("Longest rebuilds", answers["rebuild"], ["enclosure", "slowest_member", "model", "hours", "hours_in_90_days"], []),
        ("Counterfeit capacity", answers["counterfeits"], ["serial", "model", "host", "enclosure", "slot", "held_bytes"], []),
        ("SMR under a CMR model", answers["smr"], ["serial", "model"], []),
        ("Drives without slow regions", answers["survival"], ["model", "drives", "share_30", "share_60", "share_90"], ["share_30", "share_60", "share_90"]),
        ("Read latency, last 7 days", answers["latency"], ["model", "requests", "median", "p99", "p999"], []),
    ]
    for title, frame, columns, percent in lists:
        parts.append(Markup("<h2>{}</h2>").format(title) + _table(frame, columns, percent))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = Markup('<!doctype html><html lang="en"><meta charset="utf-8"><title>Fleet report</title>'
                  '<meta http-equiv="Content-Security-Policy" content="{}"><style>{}</style>').format(policy, Markup(STYLE))
    return str(head + Markup("").join(parts) + Markup("</html>\n"))


def _heading(outliers: pd.DataFrame, listed: pd.DataFrame, answers: dict[str, pd.DataFrame]) -> Markup:
    text = Markup("<h1>{} of {} drives are slower than their equals</h1><p>{} with excess latency, {} changed, {} of counterfeit capacity, "
                  "{} SMR under a CMR model. {} of {} batches refused.</p>")
    batches = answers["batches"]
    return text.format(
        f"{listed['serial'].nunique():,}", f"{outliers['serial'].nunique():,}", int(answers["fail-slow"]["is_fail_slow"].sum()),
        int(answers["drift"]["has_drifted"].sum()), len(answers["counterfeits"]), len(answers["smr"]),
        int((batches["decision"] == "refuse").sum()), len(batches),
    )


def _key() -> Markup:
    items = [Markup('<span style="background:{}"></span>{}').format(colour, name) for name, colour in CLASSES]
    return Markup('<p class="key">{}</p>').format(Markup("").join(items))


def _map(outliers: pd.DataFrame) -> Markup:
    """Cells of equal colour are one path: what a browser draws grows with colours, not with drives."""
    rows = outliers.dropna(subset=["slot"])
    if len(rows) == 0:
        return Markup("<p>No places: give --inventory to push.</p>")
    rack = pd.factorize(rows["rack"].fillna(""), sort=True)[0]
    enclosure = rows.groupby(rows["rack"].fillna(""))["enclosure"].rank(method="dense").to_numpy(float) - 1
    slot = rows["slot"].to_numpy(float) - rows["slot"].min()
    rack_width, rack_height = (slot.max() + 1) * CELL + GAP, (enclosure.max() + 1) * CELL + GAP
    x = (rack % RACKS_PER_ROW) * rack_width + slot * CELL
    y = (rack // RACKS_PER_ROW) * rack_height + enclosure * CELL
    cause = np.select([~rows["is_outlier"], rows["cause"] == "drive", rows["cause"] == "slot"], [3, 0, 1], 2)
    paths = []
    for index, (name, colour) in reversed(list(enumerate(CLASSES))):
        cells = "".join(f"M{int(a)} {int(b)}h3v3h-3z" for a, b in zip(x[cause == index], y[cause == index]))
        paths.append(Markup('<path fill="{}" d="{}"/>').format(colour, cells))
    size = f"0 0 {int(x.max()) + CELL + 1} {int(y.max()) + CELL + 1}"
    return Markup('<svg viewBox="{}" role="img" aria-label="Drives by rack, enclosure and slot">{}</svg>').format(size, Markup("").join(paths))


def _outliers(listed: pd.DataFrame) -> Markup:
    rows = listed.assign(
        place=listed["host"].fillna("?").astype(str) + " / " + listed["enclosure"].fillna("?").astype(str) + " / " + listed["slot"].map("{:g}".format),
        evidence=["%d runs in 28 days, z = %.1f, q = %.2g" % entry for entry in zip(listed["n_recent"], listed["z"], listed["q"])],
    )
    return _table(rows, ["serial", "model", "firmware", "place", "slower", "cause", "evidence"], percent=["slower"])


def _table(frame: pd.DataFrame, columns: list[str], percent: list[str]) -> Markup:
    if len(frame) == 0:
        return Markup("<p>None.</p>")
    head = Markup("").join(Markup("<th>{}</th>").format(column.replace("_", " ")) for column in columns)
    body = []
    for row in frame[columns].head(ROWS_MAX).itertuples(index=False):
        cells = [Markup("<td>{}</td>").format(_shown(value, column in percent)) for value, column in zip(row, columns)]
        body.append(Markup("<tr>{}</tr>").format(Markup("").join(cells)))
    more = Markup("<p>{} more: see the command of the same name.</p>").format(len(frame) - ROWS_MAX) if len(frame) > ROWS_MAX else Markup("")
    return Markup("<table><tr>{}</tr>{}</table>{}").format(head, Markup("").join(body), more)


def _shown(value: object, is_percent: bool) -> Markup:
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return Markup("–")
    if is_percent:
        return escape(f"{value:.2%}")
    if isinstance(value, pd.Timestamp):
        return escape(value.date().isoformat())
    if isinstance(value, float):
        return escape(f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}")
    return escape(str(value))
