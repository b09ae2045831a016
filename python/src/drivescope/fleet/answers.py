"""The questions: what each is called, which rows of its answer matter, and how a column reads on a terminal and a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Any

import pandas as pd

from .engine import Engine
from .lake import LakeError


@dataclass(frozen=True)
class Question:
    """One question to a lake. `flag` is the column that is true in the rows to list; without one all rows are listed."""

    text: str
    title: str
    columns: tuple[str, ...]
    flag: str | None = None
    # What the lake lacks when there is no row at all: that does not mean that nothing was found.
    lacks: str | None = None


QUESTIONS = {
    "failing": Question(
        "Drives that fail, with the evidence of the last 28 days",
        "Failing drives",
        ("serial", "model", "host", "enclosure", "slot", "evidence", "seen", "run_id"),
    ),
    "outliers": Question(
        "Drives slower than drives of the same model, capacity and firmware",
        "Slow drives and slots",
        ("serial", "model", "host", "enclosure", "slot", "slower", "z", "q", "cause"),
        "is_outlier",
        "no drive of this lake has 5 runs in 28 days",
    ),
    "fail-slow": Question(
        "Drives with more latency than their throughput explains",
        "Excess latency",
        ("serial", "model", "excess", "z", "q"),
        "is_fail_slow",
        "no drive of this lake has 20 phases with throughput and latency in 28 days",
    ),
    "drift": Question(
        "Drives that changed, and the day of a step",
        "Drives that changed",
        ("serial", "model", "change", "q", "kind", "day"),
        "has_drifted",
        "no drive of this lake has 10 runs in one place",
    ),
    "effects": Question(
        "Effects of firmware and slots; variance by rack, host and enclosure",
        "Effects of firmware and slots",
        ("level", "effect", "low", "high", "p_adjusted"),
        "is_significant",
        "this lake has no more drives with 5 runs in 28 days than effects",
    ),
    "batches": Question(
        "Decision for each batch: accept, refuse or inconclusive",
        "Batches",
        ("batch", "measured", "slow", "undecided", "share_low", "share_high", "decision"),
        lacks="no drive of this lake has 5 runs in 28 days and a batch",
    ),
    "survival": Question(
        "Share of drives without slow regions, or what --of names, after 30, 60 and 90 days",
        "Drives without slow regions",
        ("model", "drives", "with_events", "share_30", "share_60", "share_90"),
    ),
    "rebuild": Question(
        "Time of a rebuild of each enclosure, now and in 90 days",
        "Longest rebuilds",
        ("enclosure", "host", "slowest_member", "model", "hours", "hours_in_90_days"),
    ),
    "smr": Question("SMR drives under a model that is not", "SMR under a CMR model", ("serial", "model", "host", "enclosure", "slot")),
    "counterfeits": Question(
        "Drives that hold less than they report",
        "Counterfeit capacity",
        ("serial", "model", "host", "enclosure", "slot", "capacity_bytes", "held_bytes"),
    ),
    "latency": Question(
        "Latency percentiles of each model, from merged histograms",
        "Read latency, last 7 days",
        ("model", "requests", "median", "p99", "p999"),
    ),
}


MODULES = {
    "failing": ("failing", "failing"),
    "outliers": ("outliers", "outliers"),
    "fail-slow": ("fail_slow", "fail_slow"),
    "drift": ("drift", "drift"),
    "effects": ("effects", "effects"),
    "batches": ("acceptance", "batches"),
    "survival": ("survival", "survival"),
    "rebuild": ("rebuild", "rebuild"),
    "smr": ("claims", "smr"),
    "counterfeits": ("claims", "counterfeits"),
    "latency": ("latency", "latency"),
}


def answer(engine: Engine, question: str, of: str | int | None = None) -> pd.DataFrame:
    """The answer to one of `QUESTIONS`, a row per drive, batch, model or effect; `of` is the finding or the size of batches, if not the usual one."""
    module, function = MODULES[question]
    # Each question loads only the statistics it needs: all together take longer to load than a small fleet to ask.
    ask = getattr(import_module(f".questions.{module}", __package__), function)
    result = engine.once(f"answer {question} {of}", lambda: ask(engine, *([of] if of else [])))
    rows = result.fixed if question == "effects" else result
    lacks = QUESTIONS[question].lacks
    if lacks is not None and len(rows) == 0:
        raise LakeError(f"cannot tell: {lacks}. Measure more: drivescope check DRIVE")
    return rows


def listed(question: str, result: pd.DataFrame) -> pd.DataFrame:
    """The rows and columns to list."""
    asked = QUESTIONS[question]
    rows = result if asked.flag is None else result[result[asked.flag]]
    return rows[list(asked.columns)].reset_index(drop=True)


class Form(Enum):
    """How the numbers of a column read."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    CHANCE = "chance"
    DEVIATIONS = "deviations"
    HOURS = "hours"
    SECONDS = "seconds"
    BYTES = "bytes"
    RATE = "rate"


# Columns whose title is not their name, or that are no text.
COLUMNS = {
    "serial": ("drive", Form.TEXT),
    "slowest_member": ("slowest member", Form.TEXT),
    "slot": ("slot", Form.COUNT),
    "slower": ("slower by", Form.SHARE),
    "excess": ("excess latency", Form.SHARE),
    "change": ("change", Form.SHARE),
    "kind": ("course", Form.TEXT),
    "day": ("day of step", Form.TEXT),
    "seen": ("last seen", Form.TEXT),
    "run_id": ("run", Form.TEXT),
    "z": ("z", Form.DEVIATIONS),
    "q": ("q", Form.CHANCE),
    "p_adjusted": ("p, adjusted", Form.CHANCE),
    "effect": ("effect", Form.SHARE),
    "low": ("95 % CI, low", Form.SHARE),
    "high": ("high", Form.SHARE),
    "deviation": ("standard deviation", Form.SHARE),
    "share": ("of variance", Form.SHARE),
    "drives": ("drives", Form.COUNT),
    "measured": ("measured", Form.COUNT),
    "slow": ("slow", Form.COUNT),
    "undecided": ("drive or slot", Form.COUNT),
    "share_low": ("share slow, 95 % low", Form.SHARE),
    "share_high": ("95 % high", Form.SHARE),
    "with_events": ("with events", Form.COUNT),
    "share_30": ("after 30 days", Form.SHARE),
    "share_60": ("after 60 days", Form.SHARE),
    "share_90": ("after 90 days", Form.SHARE),
    "hours": ("rebuild now", Form.HOURS),
    "hours_in_90_days": ("in 90 days", Form.HOURS),
    "capacity_bytes": ("reported", Form.BYTES),
    "held_bytes": ("true capacity", Form.BYTES),
    "requests": ("requests", Form.COUNT),
    "median": ("p50", Form.SECONDS),
    "p99": ("p99", Form.SECONDS),
    "p999": ("p99.9", Form.SECONDS),
    "bytes_per_second": ("data sheet", Form.RATE),
    "measured_rate": ("measured", Form.RATE),
    "low_rate": ("95 % CI, low", Form.RATE),
    "high_rate": ("high", Form.RATE),
}


def title_of(column: str) -> str:
    return COLUMNS.get(column, (column, Form.TEXT))[0]


def form_of(column: str) -> Form:
    return COLUMNS.get(column, (column, Form.TEXT))[1]


def shown(column: str, value: Any) -> str:
    """A value as people read it; `-` for none."""
    form = form_of(column)
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, pd.Timestamp):
        return str(value.date())
    if form is Form.COUNT:
        return f"{value:,.0f}"
    if form is Form.SHARE:
        return f"{100 * value:.2f} %" if abs(value) < 0.1 else f"{100 * value:.1f} %"
    if form is Form.CHANCE:
        return "< 1e-9" if value < 1e-9 else f"{value:.2g}"
    if form is Form.DEVIATIONS:
        return f"{value:.1f}"
    if form is Form.HOURS:
        return f"{value:.1f} h"
    if form is Form.SECONDS:
        return f"{value * 1e3:.2f} ms"
    if form is Form.BYTES:
        return f"{value / 1e12:.2f} TB" if value >= 1e12 else f"{value / 1e9:.0f} GB"
    if form is Form.RATE:
        return f"{value / 1e6:.1f} MB/s"
    return str(value)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun, `1 drive` or `1,200 drives`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def table_text(rows: pd.DataFrame) -> str:
    """Rows as an aligned table for a terminal: texts left, numbers right."""
    columns = [
        [title_of(name), *(shown(name, value) for value in rows[name])] for name in rows.columns
    ]
    widths = [max(len(cell) for cell in column) for column in columns]
    lines = []
    for cells in zip(*columns):
        padded = [
            cell.ljust(width) if form_of(str(name)) is Form.TEXT else cell.rjust(width)
            for cell, width, name in zip(cells, widths, rows.columns)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)
