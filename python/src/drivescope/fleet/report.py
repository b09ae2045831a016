"""The report of a fleet as one HTML file: the map of racks and slots, the ranking, and the evidence of each outlier.

All texts come from drives and hosts and are escaped by markupsafe; the page has no script and loads nothing, and its policy
forbids both. Drives that are not listed are one path on the map, so that 100,000 drives stay one small file.
"""

from __future__ import annotations

from collections.abc import Hashable
from string import Formatter
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
from ibis import _
from markupsafe import Markup

from .answers import QUESTIONS, Form, answer, form_of, listed, shown, title_of
from .engine import Engine
from .figures import daily
from .lake import LakeError
from .page import STYLE
from .questions.effects import effects

# The cause of an outlier, the class of its cells and its name.
CAUSES = (("drive", "drive", "slow drive"), ("slot", "slot", "slow slot"), ("drive or slot", "either", "drive or slot: swap to decide"))
ROWS_MAX = 500
# Rows that are open at once; the others are behind a summary.
ROWS_OPEN = 12
CELL, GAP, LABEL, RACKS_PER_ROW, WIDTH_MAX, SCALE_MAX = 4.0, 7.0, 4.0, 20, 1080.0, 3.6
SPARK_WIDTH, SPARK_HEIGHT = 150, 34
LINK_FIELDS = {"host", "run", "serial"}


def report(engine: Engine, link: str | None = None, lot: int | None = None) -> str:
    """The page. `link` is the address of a host's own report, with {host}, {run} and {serial}; `lot` the size of batches."""
    _check_link(link)
    answers, reasons = _answers(engine, lot)
    found = effects(engine)
    answers["effects"] = found.fixed
    slow = answers["outliers"]
    slow = slow[slow["is_outlier"]].reset_index(drop=True)
    top = slow.head(ROWS_MAX)
    parts = [
        _heading(engine, answers, slow, reasons),
        Markup('<section id="failing"><h2>{}</h2>{}</section>').format(QUESTIONS["failing"].title, _failing(answers["failing"], link)),
        Markup(
            '<section id="map"><h2>Racks and slots</h2><p class="faint">One block per rack, one line per enclosure, one cell per slot. '
            "A coloured cell leads to its drive.</p>{}{}</section>"
        ).format(_key(), _map(answers["outliers"], set(top["serial"]))),
        Markup(
            '<section id="outliers"><h2>{}</h2><p class="faint">Compared with drives of the same model, capacity and firmware, after '
            "removing effects of rack, host, enclosure and slot. False discovery rate 5 %. Where the cause is “drive or slot”, swap the "
            "drive and measure for 5 days.</p>{}</section>"
        ).format(QUESTIONS["outliers"].title, _outliers(top, len(slow), _evidence(engine, answers, top), link)),
        Markup(
            '<section id="effects"><h2>{}</h2><p class="faint">Significant at 5 % after Holm. Slots against the mean slot, '
            "firmware against the first version.</p>{}<h3>Variation of throughput</h3>{}</section>"
        ).format(QUESTIONS["effects"].title, _table(listed("effects", found.fixed)), _table(found.variance)),
    ]
    for question in ("fail-slow", "drift", "batches", "rebuild", "counterfeits", "smr", "survival", "latency"):
        reason = reasons.get(question)
        table = Markup("<p>{}</p>").format(reason) if reason else _table(listed(question, answers[question]))
        parts.append(Markup('<section id="{}"><h2>{}</h2>{}</section>').format(question, QUESTIONS[question].title, table))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = Markup(
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Fleet report</title>'
        '<meta http-equiv="Content-Security-Policy" content="{}"><style>{}</style><main>'
    ).format(policy, Markup(STYLE))
    return str(head + Markup("").join(parts) + Markup("</main></html>\n"))


def _answers(engine: Engine, lot: int | None) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """All answers but the effects, and why a question has none: a fleet need not be measured for each of them."""
    answers, reasons = {"outliers": answer(engine, "outliers")}, {}
    for question, asked in QUESTIONS.items():
        if question in ("outliers", "effects"):
            continue
        try:
            answers[question] = answer(engine, question, lot if question == "batches" else None)
        except LakeError as error:
            reasons[question] = str(error)
            answers[question] = pd.DataFrame(columns=[*asked.columns, *filter(None, [asked.flag])])
            if asked.flag:
                answers[question] = answers[question].astype({asked.flag: "bool"})
    return answers, reasons


def _check_link(link: str | None) -> None:
    if link is None:
        return
    try:
        fields = {name for _text, name, _form, _conversion in Formatter().parse(link) if name is not None}
    except ValueError as error:
        raise LakeError(f"cannot link to {link}: {error}. Example: https://{{host}}/{{run}}.html")
    if not fields <= LINK_FIELDS or not link.startswith(("https://", "http://", "./", "../")):
        raise LakeError(f"cannot link to {link}: it needs http(s):// or ./, and only {{host}}, {{run}} and {{serial}}.")


def _heading(engine: Engine, answers: dict[str, pd.DataFrame], slow: pd.DataFrame, reasons: dict[str, str]) -> Markup:
    outliers = answers["outliers"]
    totals = engine.runs.agg(runs=_.count(), first=_.date.min(), last=_.date.max()).to_pandas().iloc[0]
    counts = slow["cause"].value_counts()
    refused = int((answers["batches"]["decision"] == "refuse").sum())
    firmware = answers["effects"].query("is_significant and factor == 'firmware' and effect < 0")
    tiles = [
        ("failing", len(answers["failing"]), "failing drives", "failed runs or requests, unreadable or lost data"),
        ("outliers", len(slow), "slow drives and slots", f"{counts.get('drive', 0)} drives, {counts.get('slot', 0)} slots, {counts.get('drive or slot', 0)} undecided"),
        ("fail-slow", len(listed("fail-slow", answers["fail-slow"])), "with excess latency", "10 % or more past what throughput explains"),
        ("drift", len(listed("drift", answers["drift"])), "changed", f"{(answers['drift']['kind'] == 'step').sum()} in one step"),
        ("effects", len(firmware), "slower firmware versions", "against the first version of the model"),
        ("batches", refused, f"of {len(answers['batches'])} batches refused", "2 % slow drives or more, 95 % sure"),
        ("counterfeits", len(answers["counterfeits"]) + len(answers["smr"]), "not as sold", f"{len(answers['counterfeits'])} counterfeit, {len(answers['smr'])} SMR"),
    ]
    shapes = [
        Markup('<a class="tile" href="#{}"><b>{}</b> <span>{}</span><small>{}</small></a>').format(
            anchor, "–" if anchor in reasons else f"{count:,}", label, "not measured" if anchor in reasons else note
        )
        for anchor, count, label, note in tiles
    ]
    failing = Markup("{} drives fail, ").format(f"{len(answers['failing']):,}") if len(answers["failing"]) > 0 else Markup("")
    return Markup('<h1>{}{} of {} drives are slower than their equals</h1><p class="faint">{} runs, {} to {}. {} models, {} hosts.</p><nav>{}</nav>').format(
        failing,
        f"{slow['serial'].nunique():,}", f"{outliers['serial'].nunique():,}", f"{int(totals['runs']):,}",
        pd.Timestamp(totals["first"]).date(), pd.Timestamp(totals["last"]).date(),
        f"{outliers['model'].nunique():,}", f"{outliers['host'].nunique():,}", Markup("").join(shapes),
    )


def _key() -> Markup:
    items = [Markup('<span class="{}"></span>{}').format(name, text) for _cause, name, text in (*CAUSES, ("", "sound", "not listed"))]
    return Markup('<p class="key">{}</p>').format(Markup("").join(items))


def _map(outliers: pd.DataFrame, linked: set[str]) -> Markup:
    """Racks in rows. Places are ranked, so that no slot number that a host sends stretches the map."""
    rows = outliers.dropna(subset=["slot"])
    if len(rows) == 0:
        return Markup("<p>No places: give --inventory to push.</p>")
    rack, racks = pd.factorize(rows["rack"].fillna("no rack"), sort=True)
    line = pd.Series(pd.factorize(rows["enclosure"].fillna(""), sort=True)[0]).groupby(rack).rank(method="dense").to_numpy() - 1
    slot = pd.factorize(rows["slot"], sort=True)[0]
    per_row = min(len(racks), RACKS_PER_ROW)
    # A rack is at least as wide as its name.
    width = max((slot.max() + 1) * CELL, 30) + GAP
    scale = min(WIDTH_MAX / (per_row * width), SCALE_MAX)
    label = LABEL * SCALE_MAX / max(scale, 1)
    height = (line.max() + 1) * CELL + label + GAP
    x, y = (rack % per_row) * width + slot * CELL, (rack // per_row) * height + label + line * CELL
    is_outlier = rows["is_outlier"].to_numpy(bool)
    paths = [Markup('<path class="sound" d="{}"/>').format(_sound_cells(x[~is_outlier], y[~is_outlier]))]
    classes = {cause: name for cause, name, _text in CAUSES}
    for index in np.flatnonzero(is_outlier):
        row = rows.iloc[index]
        cell = Markup('<rect class="{}" x="{:g}" y="{:g}" width="3" height="3"><title>{}</title></rect>').format(
            classes.get(row["cause"], "either"), x[index], y[index],
            f"{row['serial']}, {row['enclosure']}, slot {row['slot']:g}: {shown('slower', row['slower'])} slower",
        )
        is_linked = row["serial"] in linked
        paths.append(Markup('<a href="#{}">{}</a>').format(_anchor(row["serial"]), cell) if is_linked else cell)
    letters = int((width - GAP) / (label * 0.55))
    for number, name in enumerate(racks):
        paths.append(
            Markup('<text x="{:g}" y="{:g}" font-size="{:g}">{}<title>{}</title></text>').format(
                (number % per_row) * width, (number // per_row) * height + label * 0.8, label, str(name)[-letters:], name
            )
        )
    span = (per_row * width, (-(-len(racks) // per_row)) * height)
    return Markup('<svg class="map" viewBox="0 0 {:g} {:g}" style="width:{:g}px" role="img" aria-label="Drives by rack, enclosure and slot">{}</svg>').format(
        *span, span[0] * scale, Markup("").join(paths)
    )


def _sound_cells(x: np.ndarray, y: np.ndarray) -> str:
    """Squares, each neighbour relative to the last. One dashed line for all is shorter, but Chromium takes twice as long to draw it."""
    order = np.lexsort((x, y))
    x, y = x[order], y[order]
    starts = np.flatnonzero(np.diff(x, prepend=-np.inf) + np.abs(np.diff(y, prepend=-np.inf)) != CELL)
    lengths = np.diff(starts, append=len(x))
    square = "h3v3h-3z"
    return "".join(f"M{a:g} {b:g}{square}{f'm{CELL:g} 0{square}' * (n - 1)}" for a, b, n in zip(x[starts], y[starts], lengths))


def _anchor(serial: Any) -> str:
    return "drive-" + quote(str(serial), safe="")


def _evidence(engine: Engine, answers: dict[str, pd.DataFrame], top: pd.DataFrame) -> pd.DataFrame:
    """For each listed drive: the picture of its throughput, its last run, and what other questions found."""
    serials = top["serial"].tolist()
    if not serials:
        return pd.DataFrame()
    runs = engine.runs.filter(_.serial.isin(serials)).group_by("serial").agg(run=_.run_id.argmax(_.started)).to_pandas()
    equals = ["model", "capacity_bytes", "firmware"]
    all_drives = answers["outliers"]
    # Before places are removed: the picture has the throughput as measured.
    usual = (all_drives["y_recent"] / all_drives["n_recent"]).groupby([all_drives[column] for column in equals], dropna=False).median()
    level = top[equals + ["serial"]].join(usual.rename("usual"), on=equals).set_index("serial")["usual"]
    series = daily(engine, "read-rate-outer", serials)
    series["ratio"] = np.exp(series["y"] - series["serial"].map(level[~level.index.duplicated()]))
    span = (series["date"].min(), series["date"].max())
    pictures = {serial: _sparkline(part, span) for serial, part in series.groupby("serial")}
    frame = runs.set_index("serial")
    # As objects: a column of texts would forget that these are markup.
    frame["picture"] = pd.Series(pictures, dtype=object)
    # A drive that calls itself two models has two rows there.
    frame["excess"] = answers["fail-slow"].query("is_fail_slow").drop_duplicates("serial").set_index("serial")["excess"]
    changed = answers["drift"].query("has_drifted").drop_duplicates("serial").set_index("serial")
    frame["kind"], frame["day"], frame["change"] = changed["kind"], changed["day"], changed["change"]
    return frame


def _sparkline(part: pd.DataFrame, span: tuple[Any, Any]) -> Markup:
    """Throughput as a share of that of the equals, whose level is the dashed line."""
    first, last = pd.Timestamp(span[0]), pd.Timestamp(span[1])
    days = max((last - first).days, 1)
    low = min(float(part["ratio"].min()), 0.8)
    high = max(float(part["ratio"].max()), 1.05)
    x = (pd.to_datetime(part["date"]) - first).dt.days / days * (SPARK_WIDTH - 2) + 1
    y = (high - part["ratio"]) / (high - low) * (SPARK_HEIGHT - 4) + 2
    equal = (high - 1) / (high - low) * (SPARK_HEIGHT - 4) + 2
    points = " ".join(f"{a:.0f},{b:.1f}" for a, b in zip(x, y))
    recent = f"{100 * float(part['ratio'].iloc[-7:].median()):.0f} % of equals in the last runs, {100 * float(part['ratio'].iloc[:7].median()):.0f} % in the first"
    return Markup(
        '<svg class="spark" width="{}" height="{}" role="img" aria-label="{}"><title>{}</title><path d="M0 {:.1f}h{}"/><polyline points="{}"/></svg>'
    ).format(SPARK_WIDTH, SPARK_HEIGHT, recent, recent, equal, SPARK_WIDTH, points)


def _failing(drives: pd.DataFrame, link: str | None) -> Markup:
    if len(drives) == 0:
        return Markup("<p>None.</p>")
    head = Markup("<tr><th>drive<th>place<th>evidence, last 28 days<th>last seen<th>the host's own report</tr>")
    body = [
        Markup("<tr><td><b>{}</b><small>{}</small><td>{}<small>{}</small><td class=evidence>{}<td>{}<td>{}</tr>").format(
            shown("serial", row["serial"] or None), shown("model", row["model"] or None),
            f"{shown('host', row['host'])}, slot {shown('slot', row['slot'])}", f"{shown('rack', row['rack'])}, {shown('enclosure', row['enclosure'])}",
            row["evidence"], shown("seen", row["seen"]), _own_report(row, row["run_id"], link),
        )
        for row in drives.head(ROWS_MAX).to_dict("records")
    ]
    more = Markup("<p>{} more: <code>python -m drivescope.fleet failing --csv FILE</code></p>").format(len(drives) - ROWS_MAX) if len(drives) > ROWS_MAX else Markup("")
    return Markup('<div class="wide"><table class="ranking">{}{}</table></div>{}').format(head, Markup("").join(body), more)


def _outliers(top: pd.DataFrame, total: int, evidence: pd.DataFrame, link: str | None) -> Markup:
    if len(top) == 0:
        return Markup("<p>None.</p>")
    head = Markup(
        "<tr><th>#<th>drive<th>place<th class=n>slower by<th>cause<th>throughput<small>dashed: equals</small><th>evidence<small>and the host's own report</small></tr>"
    )
    names = {cause: name for cause, name, _text in CAUSES}
    body = []
    for rank, row in enumerate(top.to_dict("records"), 1):
        known = evidence.loc[row["serial"]].to_dict() if row["serial"] in evidence.index else {}
        body.append(
            Markup(
                '<tr id="{}"><td class=n>{}<td><b>{}</b><small>{}, {}</small><td>{}<small>{}</small><td class=n>{}'
                '<td><span class="{}"></span>{}<td>{}<td class="evidence">{}<small>{}</small></tr>'
            ).format(
                _anchor(row["serial"]), rank, row["serial"], row["model"], row["firmware"],
                f"{shown('host', row['host'])}, slot {shown('slot', row['slot'])}", f"{shown('rack', row['rack'])}, {shown('enclosure', row['enclosure'])}",
                shown("slower", row["slower"]), names.get(row["cause"], "either"), row["cause"], known.get("picture", "-"),
                _evidence_text(row, known), _own_report(row, known.get("run"), link),
            )
        )
    more = Markup("<p>{} more: <code>python -m drivescope.fleet outliers --csv FILE</code></p>").format(total - len(top)) if total > len(top) else Markup("")
    return Markup('<div class="wide"><table class="ranking">{}{}</table></div>{}').format(head, Markup("").join(body), more)


def _evidence_text(row: dict[Hashable, Any], known: dict[Hashable, Any]) -> Markup:
    also = []
    if known.get("kind") == "step":
        also.append(f"step of {shown('change', known['change'])} on {shown('day', known['day'])}")
    elif known.get("kind") == "slope":
        also.append(f"steady change of {shown('change', known['change'])}")
    if pd.notna(known.get("excess")):
        also.append(f"excess latency {shown('excess', known['excess'])}")
    return Markup("{} runs in 28 days, z {}, q {}{}").format(
        shown("drives", row["n_recent"]), shown("z", row["z"]), shown("q", row["q"]), "".join(f"; {text}" for text in also)
    )


def _own_report(row: dict[Hashable, Any], run: Any, link: str | None) -> Markup:
    if not isinstance(run, str):
        return Markup("-")
    if link is None:
        return Markup("<code>drivescope report {}</code>").format(run)
    values = {"host": row["host"], "run": run, "serial": row["serial"]}
    address = link.format(**{name: quote(str(value or ""), safe="") for name, value in values.items()})
    return Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, run)


def _table(frame: pd.DataFrame) -> Markup:
    """The first rows, and the others behind a summary."""
    if len(frame) == 0:
        return Markup("<p>None.</p>")
    texts = [form_of(str(name)) is Form.TEXT for name in frame.columns]
    cell = [Markup("<td>") if is_text else Markup("<td class=n>") for is_text in texts]
    head = Markup("").join(
        (Markup("<th>") if is_text else Markup("<th class=n>")) + Markup.escape(title_of(str(name))) for name, is_text in zip(frame.columns, texts)
    )
    body = [
        Markup("<tr>") + Markup("").join(start + Markup.escape(shown(str(name), value)) for start, name, value in zip(cell, frame.columns, row))
        for row in frame.head(ROWS_MAX).itertuples(index=False)
    ]
    table = Markup('<div class="wide"><table><tr>{}</tr>{}</table></div>')
    first = table.format(head, Markup("").join(body[:ROWS_OPEN]))
    if len(body) <= ROWS_OPEN:
        return first
    cut = Markup(" The command of this name lists all.") if len(frame) > ROWS_MAX else Markup("")
    return first + Markup("<details><summary>{} more rows</summary>{}{}</details>").format(
        f"{len(frame) - ROWS_OPEN:,}", table.format(head, Markup("").join(body[ROWS_OPEN:])), cut
    )
