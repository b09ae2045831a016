"""The report of a fleet as one HTML file: the map of racks and slots, the ranking, and the evidence of each outlier.

All texts come from drives and hosts and are escaped by markupsafe; the page has no script and loads nothing, and its policy
forbids both. Drives that are not listed are bars on the map, and most rows lie behind a summary, so that 100,000 drives open at once.
"""

from __future__ import annotations

import shlex
from collections.abc import Hashable
from dataclasses import dataclass
from string import Formatter
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
from ibis import _
from markupsafe import Markup

from .answers import QUESTIONS, Form, answer, counted, form_of, listed, shown, title_of
from .engine import Engine
from .figures import by_place, daily
from .lake import LakeError
from .page import STYLE
from .questions.effects import effects
from .questions.outliers import RUNS_MIN, outliers

# Why a cell is marked, its class and its name.
CAUSES = (
    ("failing", "failing", "failing drive"),
    ("drive", "drive", "slow drive"),
    ("slot", "slot", "slow slot"),
    ("drive or slot", "either", "drive or slot: swap to decide"),
)
ROWS_MAX = 500
# Rows that are open at once; the others are behind a summary.
ROWS_OPEN, RANKING_OPEN = 12, 20
CELL, GAP, LABEL, RACKS_PER_ROW, WIDTH_MAX, SCALE_MAX = 4.0, 7.0, 4.0, 20, 1080.0, 3.6
SPARK_WIDTH, SPARK_HEIGHT = 150, 34


def _check_template(what: str, text: str | None, known: set[str], example: str) -> None:
    """Refuses a text whose braces are not the names of `known`."""
    if text is None:
        return
    try:
        fields = {name for _text, name, _form, _conversion in Formatter().parse(text) if name is not None}
    except ValueError as error:
        raise LakeError(f"cannot {what} {text}: {error}. Example: {example}")
    if not fields <= known:
        names = ", ".join(f"{{{name}}}" for name in sorted(known))
        raise LakeError(f"cannot {what} {text}: only {names} are known. Example: {example}")


@dataclass(frozen=True)
class OwnReport:
    """How a reader gets to a host's own report: by the address `link`, else by the command, with the `store` of the runs."""

    link: str | None = None
    store: str | None = None

    def __post_init__(self) -> None:
        _check_template("link to", self.link, {"host", "run", "serial"}, "https://{host}/{run}.html")
        if self.link is not None and not self.link.startswith(("https://", "http://", "./", "../")):
            raise LakeError(f"cannot link to {self.link}: it needs http(s):// or ./")
        _check_template("use store", self.store, {"host", "run"}, "spool/{host}/*/*/runs/{run}/../..")

    def of(self, row: dict[Hashable, Any], run: Any) -> Markup:
        if not isinstance(run, str):
            return Markup("-")
        host = str(row["host"] or "")
        if self.link is not None:
            values = {"host": host, "run": run, "serial": str(row["serial"] or "")}
            address = self.link.format(**{name: quote(value, safe="") for name, value in values.items()})
            return Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, run)
        # Names come from hosts: quoted, no shell takes them for a command.
        store = "" if self.store is None else " --store " + self.store.format(host=shlex.quote(host), run=shlex.quote(run))
        return Markup("<code>drivescope report {}{}</code>").format(shlex.quote(run), store)


def report(engine: Engine, own: OwnReport = OwnReport(), lot: int | None = None) -> str:
    """The page. `lot` is the size of batches."""
    answers, reasons = _answers(engine, lot)
    slow = answers["outliers"]
    slow = slow[slow["is_outlier"]].reset_index(drop=True)
    top = slow.head(ROWS_MAX)
    parts = [
        _heading(engine, answers, slow, reasons),
        Markup('<section id="failing"><h2>{}</h2>{}</section>').format(QUESTIONS["failing"].title, _failing(answers["failing"], own)),
        Markup(
            '<section id="map"><h2>Racks and slots</h2><p class="faint">One block per rack, one line per enclosure, one cell per slot. '
            "A coloured cell leads to its drive.</p>{}{}</section>"
        ).format(_key(), _map(_places(engine, answers), set(top["serial"]))),
        Markup(
            '<section id="outliers"><h2>{}</h2><p class="faint">Compared with drives of the same model, capacity and firmware, after '
            "removing effects of rack, host, enclosure and slot. False discovery rate 5 %. Where the cause is “drive or slot”, swap the "
            "drive and measure for 5 days.</p>{}</section>"
        ).format(QUESTIONS["outliers"].title, _reason(reasons, "outliers") or _outliers(top, len(slow), _evidence(engine, answers, top), own)),
        Markup(
            '<section id="effects"><h2>{}</h2><p class="faint">Significant at 5 % after Holm. Slots against the mean slot, '
            "firmware against the first version.</p>{}<h3>Variation of throughput</h3>{}</section>"
        ).format(QUESTIONS["effects"].title, _reason(reasons, "effects") or _table(listed("effects", answers["effects"])), _table(effects(engine).variance)),
    ]
    for question in ("fail-slow", "drift", "batches", "rebuild", "counterfeits", "smr", "survival", "latency"):
        table = _reason(reasons, question) or _table(listed(question, answers[question]))
        parts.append(Markup('<section id="{}"><h2>{}</h2>{}</section>').format(question, QUESTIONS[question].title, table))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = Markup(
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Fleet report</title>'
        '<meta http-equiv="Content-Security-Policy" content="{}"><style>{}</style><main>'
    ).format(policy, Markup(STYLE))
    return str(head + Markup("").join(parts) + Markup("</main></html>\n"))


def _answers(engine: Engine, lot: int | None) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """All answers, and why a question has none: a fleet need not be measured for each of them."""
    # Without throughput there is no report; with too few runs these two are empty.
    answers, reasons = {"outliers": outliers(engine), "effects": effects(engine).fixed}, {}
    for question, asked in QUESTIONS.items():
        try:
            answers[question] = answer(engine, question, lot if question == "batches" else None)
        except LakeError as error:
            reasons[question] = str(error)
            if question in answers:
                continue
            answers[question] = pd.DataFrame(columns=[*asked.columns, *filter(None, [asked.flag])])
            if asked.flag:
                answers[question] = answers[question].astype({asked.flag: "bool"})
    return answers, reasons


def _reason(reasons: dict[str, str], question: str) -> Markup | None:
    return Markup("<p>{}</p>").format(reasons[question]) if question in reasons else None


def _heading(engine: Engine, answers: dict[str, pd.DataFrame], slow: pd.DataFrame, reasons: dict[str, str]) -> Markup:
    totals = engine.runs.agg(runs=_.count(), first=_.date.min(), last=_.date.max()).to_pandas().iloc[0]
    places = by_place(engine, "read-rate-outer")
    drives = places["serial"].nunique()
    compared = answers["outliers"]["serial"].nunique()
    if 0 < compared < drives:
        rest = f" {drives - compared:,} of {counted(drives, 'drive')} not compared: fewer than {RUNS_MIN} runs in 28 days."
    else:
        rest = ""
    return Markup('<h1>{}</h1><p class="faint">{}, {} to {}. {}, {}.{}</p><nav>{}</nav>').format(
        _verdict(len(answers["failing"]), slow["serial"].nunique(), compared),
        counted(int(totals["runs"]), "run"), pd.Timestamp(totals["first"]).date(), pd.Timestamp(totals["last"]).date(),
        counted(places["model"].nunique(), "model"), counted(places["host"].nunique(), "host"), rest, _tiles(answers, slow, reasons),
    )


def _verdict(failing: int, slow: int, compared: int) -> str:
    fail = f"{counted(failing, 'drive')} {'fails' if failing == 1 else 'fail'}, " if failing > 0 else ""
    if compared == 0:
        none = f"no drive compared: fewer than {RUNS_MIN} runs each"
        return fail + none if fail else none.capitalize()
    return f"{fail}{slow:,} of {counted(compared, 'drive')} {'is slower than its' if 1 in (slow, compared) else 'are slower than their'} equals"


def _tiles(answers: dict[str, pd.DataFrame], slow: pd.DataFrame, reasons: dict[str, str]) -> Markup:
    causes = slow["cause"].value_counts()
    changed = answers["drift"].query("has_drifted")
    judged = len(answers["batches"])
    refused = int((answers["batches"]["decision"] == "refuse").sum())
    firmware = answers["effects"].query("is_significant and factor == 'firmware' and effect < 0")
    found = f"{counted(causes.get('drive', 0), 'drive')}, {counted(causes.get('slot', 0), 'slot')}, {causes.get('drive or slot', 0):,} undecided"
    sold = f"{len(answers['counterfeits']):,} counterfeit, {len(answers['smr']):,} SMR"
    # Count, what one is called, what many are called, and a note.
    tiles = [
        ("failing", len(answers["failing"]), "failing drive", "failing drives", "failed runs or requests, unreadable or lost data"),
        ("outliers", len(slow), "slow drive or slot", "slow drives and slots", found),
        ("fail-slow", len(listed("fail-slow", answers["fail-slow"])), *["with excess latency"] * 2, "10 % or more past what throughput explains"),
        ("drift", len(changed), *["changed"] * 2, f"{(changed['kind'] == 'step').sum():,} in one step"),
        ("effects", len(firmware), "slower firmware version", "slower firmware versions", "against the first version of the model"),
        ("batches", refused, *[f"of {counted(judged, 'batch', 'batches')} refused" if judged > 0 else "batches refused"] * 2, "more than 1 % slow drives, 95 % sure"),
        ("counterfeits", len(answers["counterfeits"]) + len(answers["smr"]), *["not as sold"] * 2, sold),
    ]
    return Markup("").join(
        Markup('<a class="tile" href="#{}"><b>{}</b> <span>{}</span><small>{}</small></a>').format(
            anchor, "–" if anchor in reasons else f"{count:,}", one if count == 1 else many, "not measured enough" if anchor in reasons else note
        )
        for anchor, count, one, many, note in tiles
    )


def _key() -> Markup:
    items = [Markup('<span class="{}"></span>{}').format(name, text) for _cause, name, text in (*CAUSES, ("", "sound", "not listed"))]
    return Markup('<p class="key">{}</p>').format(Markup("").join(items))


def _places(engine: Engine, answers: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """A row for each place of the last 28 days: compared drives, those with too few runs, and last, on top of them, failing ones."""
    places = by_place(engine, "read-rate-outer")
    few = places[(places["n_recent"] > 0) & (places["n_recent"] < RUNS_MIN)].assign(is_outlier=False, cause="")
    failing = answers["failing"].assign(is_outlier=False, cause="failing")
    return pd.concat([answers["outliers"], few, failing], ignore_index=True)


def _map(places: pd.DataFrame, linked: set[str]) -> Markup:
    """Racks in rows. Places are ranked, so that no slot number that a host sends stretches the map."""
    rows = places.dropna(subset=["slot"]).reset_index(drop=True)
    if len(rows) == 0:
        return Markup("<p>No places: give --inventory to push.</p>")
    rack, racks = pd.factorize(rows["rack"].fillna("no rack"), sort=True)
    line = pd.Series(pd.factorize(rows["enclosure"].fillna(""), sort=True)[0]).groupby(rack).rank(method="dense").to_numpy() - 1
    slot = pd.factorize(rows["slot"], sort=True)[0]
    per_row = min(len(racks), RACKS_PER_ROW)
    # A rack is at least as wide as its name. All lengths are multiples of a cell, as the pattern of cells repeats.
    width = _cells(max((slot.max() + 1) * CELL, 30) + GAP)
    scale = min(WIDTH_MAX / (per_row * width), SCALE_MAX)
    label = _cells(LABEL * SCALE_MAX / max(scale, 1))
    height = _cells((line.max() + 1) * CELL + label + GAP)
    x, y = (rack % per_row) * width + slot * CELL, (rack // per_row) * height + label + line * CELL
    is_marked = (rows["is_outlier"].astype(bool) | (rows["cause"] == "failing")).to_numpy()
    paths = [
        Markup('<pattern id="cells" width="{0:g}" height="{0:g}" patternUnits="userSpaceOnUse"><rect class="sound" width="3" height="3"/></pattern>').format(CELL),
        Markup('<path fill="url(#cells)" d="{}"/>').format(_bars(x[~is_marked], y[~is_marked])),
    ]
    classes = {cause: name for cause, name, _text in CAUSES}
    for index in np.flatnonzero(is_marked):
        row = rows.loc[index]
        found = row["evidence"] if row["cause"] == "failing" else f"{shown('slower', row['slower'])} slower"
        cell = Markup('<rect class="{}" x="{:g}" y="{:g}" width="3" height="3"><title>{}</title></rect>').format(
            classes.get(row["cause"], "either"), x[index], y[index], f"{row['serial']}, {row['enclosure']}, slot {row['slot']:g}: {found}",
        )
        if row["cause"] == "failing":
            paths.append(Markup('<a href="#{}">{}</a>').format(_anchor(row["serial"], "failing"), cell))
        else:
            paths.append(Markup('<a href="#{}">{}</a>').format(_anchor(row["serial"]), cell) if row["serial"] in linked else cell)
    letters = int((width - GAP) / (label * 0.55))
    for number, name in enumerate(racks):
        paths.append(
            Markup('<text x="{:g}" y="{:g}" font-size="{:g}">{}<title>{}</title></text>').format(
                (number % per_row) * width, (number // per_row) * height + label * 0.8, label, str(name)[-letters:].lstrip('-_ '), name
            )
        )
    span = (per_row * width, (-(-len(racks) // per_row)) * height)
    return Markup('<svg class="map" viewBox="0 0 {:g} {:g}" style="width:{:g}px" role="img" aria-label="Drives by rack, enclosure and slot">{}</svg>').format(
        *span, span[0] * scale, Markup("").join(paths)
    )


def _cells(length: float) -> float:
    return float(np.ceil(length / CELL)) * CELL


def _bars(x: np.ndarray, y: np.ndarray) -> str:
    """Bars over neighbouring cells; the pattern makes cells of them. Chromium draws a square for each of 100,000 drives in 2 s, these in 0.3 s."""
    x, y = np.unique(np.array([y, x]), axis=1)[::-1]
    starts = np.flatnonzero(np.diff(x, prepend=-np.inf) + np.abs(np.diff(y, prepend=-np.inf)) != CELL)
    lengths = np.diff(starts, append=len(x)) * CELL - 1
    return "".join(f"M{a:g} {b:g}h{length:g}v3h-{length:g}z" for a, b, length in zip(x[starts], y[starts], lengths))


def _anchor(serial: Any, kind: str = "drive") -> str:
    return f"{kind}-{quote(str(serial), safe='')}"


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
    if len(part) == 1:
        # A line of one point would not be seen.
        points += f" {x.iloc[0] + 4:.0f},{y.iloc[0]:.1f}"
    recent = f"{100 * float(part['ratio'].iloc[-7:].median()):.0f} % of equals in the last runs, {100 * float(part['ratio'].iloc[:7].median()):.0f} % in the first"
    return Markup(
        '<svg class="spark" width="{}" height="{}" role="img" aria-label="{}"><title>{}</title><path d="M0 {:.1f}h{}"/><polyline points="{}"/></svg>'
    ).format(SPARK_WIDTH, SPARK_HEIGHT, recent, recent, equal, SPARK_WIDTH, points)


def _failing(drives: pd.DataFrame, own: OwnReport) -> Markup:
    if len(drives) == 0:
        return Markup("<p>None.</p>")
    head = Markup("<tr><th>drive<th>place<th>evidence, last 28 days<th>last seen<th>the host's own report</tr>")
    body = [
        Markup('<tr id="{}"><td><b>{}</b><small>{}</small><td>{}<small>{}</small><td class=evidence>{}<td>{}<td class=evidence>{}</tr>').format(
            _anchor(row["serial"], "failing"), shown("serial", row["serial"] or None), shown("model", row["model"] or None),
            f"{shown('host', row['host'])}, slot {shown('slot', row['slot'])}", f"{shown('rack', row['rack'])}, {shown('enclosure', row['enclosure'])}",
            row["evidence"], shown("seen", row["seen"]), own.of(row, row["run_id"]),
        )
        for row in drives.head(ROWS_MAX).to_dict("records")
    ]
    return _ranking(head, body, len(drives), "failing")


def _ranking(head: Markup, body: list[Markup], total: int, question: str) -> Markup:
    """The first rows, the others behind a summary, and the command that lists what the page leaves out."""
    table = Markup('<div class="wide"><table class="ranking">{}{}</table></div>')
    parts = [table.format(head, Markup("").join(body[:RANKING_OPEN]))]
    if len(body) > RANKING_OPEN:
        rows = table.format(head, Markup("").join(body[RANKING_OPEN:]))
        parts.append(Markup("<details><summary>{} more</summary>{}</details>").format(counted(len(body) - RANKING_OPEN, "drive"), rows))
    if total > len(body):
        parts.append(Markup("<p>{} more: <code>python -m drivescope.fleet {} --csv FILE</code></p>").format(f"{total - len(body):,}", question))
    return Markup("").join(parts)


def _outliers(top: pd.DataFrame, total: int, evidence: pd.DataFrame, own: OwnReport) -> Markup:
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
                _evidence_text(row, known), own.of(row, known.get("run")),
            )
        )
    return _ranking(head, body, total, "outliers")


def _evidence_text(row: dict[Hashable, Any], known: dict[Hashable, Any]) -> Markup:
    also = []
    if known.get("kind") == "step":
        also.append(f"step of {shown('change', known['change'])} on {shown('day', known['day'])}")
    elif known.get("kind") == "slope":
        also.append(f"steady change of {shown('change', known['change'])}")
    if pd.notna(known.get("excess")):
        also.append(f"excess latency {shown('excess', known['excess'])}")
    return Markup("{} in 28 days, z {}, q {}{}").format(
        counted(int(row["n_recent"]), "run"), shown("z", row["z"]), shown("q", row["q"]), "".join(f"; {text}" for text in also)
    )


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
    return first + Markup("<details><summary>{} more</summary>{}{}</details>").format(
        counted(len(frame) - ROWS_OPEN, "row"), table.format(head, Markup("").join(body[ROWS_OPEN:])), cut
    )
