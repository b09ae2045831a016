"""From runs of a store to rows of a lake. What a host sends is not trusted: sizes, numbers and texts are bounded."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import zlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from . import schema
from .histogram import decode_cells
from .lake import LakeError

DOCUMENT_BYTES_MAX = 64 * 2**20
SERIES_BYTES_MAX = 512 * 2**20
# What a series may have after it is unpacked: a small file can promise any number of rows.
SERIES_UNPACKED_MAX = 2**31
SERIES_ROWS_MAX = 10_000_000
SERIES_BATCH_ROWS = 1000
# Each bucket takes at most two bytes for its step and eight for its count.
CELLS_BYTES_MAX = 10 * schema.BUCKET_COUNT
LIST_MAX = 10_000
TEXT_MAX = 256
# A run from before the program existed, or from tomorrow, would move what is recent for the whole fleet.
STARTED_MIN = datetime(2020, 1, 1, tzinfo=timezone.utc)
CLOCK_AHEAD_MAX = timedelta(days=1)


@dataclass(frozen=True)
class Place:
    """Where a drive is, as the inventory says; the drive itself does not know."""

    rack: str | None = None
    enclosure: str | None = None
    slot: int | None = None
    batch: str | None = None
    host: str | None = None


@dataclass
class Inventory:
    """Places by serial number, from a CSV file with the columns serial, host, rack, enclosure, slot, batch."""

    places: dict[str, Place] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Inventory:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return cls(
            {
                row["serial"]: Place(
                    row.get("rack") or None,
                    row.get("enclosure") or None,
                    int(row["slot"]) if row.get("slot") else None,
                    row.get("batch") or None,
                    row.get("host") or None,
                )
                for row in rows
            }
        )


def store_folder(given: str | None) -> Path:
    """The store that the program uses, or the one that was given."""
    import os

    if given:
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local/share")
    return Path(data) / "drivescope"


def run_folders(store: Path, pattern: str = "runs/*/run.json") -> list[Path]:
    """The folders of all finished runs of a store."""
    folders = sorted(path.parent for path in store.glob(pattern))
    if not folders:
        raise LakeError(f"cannot push runs of {store}: there are none. Measure first: drivescope check DRIVE")
    return folders


def spool_folders(spool: Path) -> list[tuple[Path, str]]:
    """The folders of all runs that were fetched, and the host that each came from: `SPOOL/HOST/CAMPAIGN/JOB/runs/RUN`."""
    return [(folder, folder.relative_to(spool).parts[0]) for folder in run_folders(spool, "*/*/*/runs/*/run.json")]


def read_run(folder: Path, inventory: Inventory, host: str | None = None) -> dict[str, Any]:
    """One run as a row; LakeError when it is damaged or is not what the program writes.

    With the host that the run came from, a serial number that the inventory has elsewhere, or not at all, is refused: no host
    can speak for the drives of others.
    """
    document_bytes = _bounded(folder / "run.json", DOCUMENT_BYTES_MAX)
    checksums = _bounded(folder / "checksums.txt", DOCUMENT_BYTES_MAX) if (folder / "checksums.txt").exists() else b""
    try:
        document = json.loads(document_bytes)
        if document.get("schema") != "drivescope.run/1":
            raise ValueError(f"its schema is {document.get('schema')!r}, not drivescope.run/1")
        series = {name: crc for crc, _, name in (line.split(" ", 2) for line in checksums.decode().splitlines())}
        histograms = _histograms(folder, document, series)
        row = _row(document, inventory, histograms)
        if host is not None:
            _check_host(row, inventory, host)
        row["key"] = hashlib.sha256(document_bytes + b"\0" + checksums).digest()[:16]
        if row["is_virtual"]:
            # Its clock begins in 1970: it is dated as the program lists it, by its file.
            row["started"] = datetime.fromtimestamp((folder / "run.json").stat().st_mtime, timezone.utc)
        _check_started(row["started"])
        # Here, since a number that no column holds would refuse all runs of a push.
        table([row])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, pa.ArrowException, OSError) as error:
        raise LakeError(f"cannot read run {folder.name}: {error}. Copy it again from its host.")
    return row


def _check_started(started: datetime) -> None:
    if not STARTED_MIN <= started <= datetime.now(timezone.utc) + CLOCK_AHEAD_MAX:
        raise ValueError(f"it began on {started:%Y-%m-%d}, so the clock of its host is wrong")


def _check_host(row: dict[str, Any], inventory: Inventory, host: str) -> None:
    known = inventory.places.get(row["serial"] or "", Place()).host
    if known != host:
        raise ValueError(f"it came from {host}, but the inventory has serial number {row['serial']} on {known or 'no host'}")
    row["host"] = host


def table(rows: Iterable[dict[str, Any]]) -> pa.Table:
    """Rows as a table of the lake's schema; what that lacks, such as `is_virtual`, stays out."""
    return pa.Table.from_pylist(list(rows), schema=schema.RUNS)


def _row(document: dict[str, Any], inventory: Inventory, histograms: list[dict[str, Any]]) -> dict[str, Any]:
    run, target, environment = document["run"], document["target"], document["environment"]
    started = _time(run["started"])
    finished = _time(run["finished"]) if run.get("finished") else None
    serial = _text(target.get("serial"))
    place = inventory.places.get(serial or "", Place())
    if finished is not None and finished < started:
        raise ValueError("it ended before it began")
    phases = _list(document.get("phases"))
    findings = [_finding(finding) for finding in _list(document.get("findings"))]
    failed = sum(_whole(phase.get("errors")) or 0 for phase in phases)
    if failed > 0:
        findings.append(_finding({"code": "failed-requests", "value": failed, "unit": "count"}))
    return {
        "is_virtual": target.get("kind") == "sim",
        "run_id": _text(run["id"]),
        "started": started,
        "seconds": (finished - started).total_seconds() if finished else None,
        "status": _text(run.get("status")),
        "version": _text(run.get("version")),
        "experiment": _text(phases[-1].get("experiment")) if phases else None,
        "serial": serial,
        "model": _text(target.get("model")),
        "firmware": _text(target.get("firmware")),
        "capacity_bytes": _whole(target.get("capacity_bytes")),
        "host": _text(environment.get("host")),
        "rack": place.rack,
        "enclosure": place.enclosure,
        "slot": place.slot,
        "batch": place.batch,
        "health": health(findings),
        "temperature_celsius": None,
        "power_on_hours": None,
        "findings": findings,
        "histograms": histograms,
        "state": [
            {"name": when, "text": _text(text)}
            for when in ("before", "after")
            for text in _list((document.get("state") or {}).get(when))
        ],
        "windows": _windows(phases),
    }


def health(findings: list[dict[str, Any]]) -> str:
    """`failing` with failed requests, unreadable sectors, lost data or a lost device, `degraded` with slow regions, else `sound`."""
    values = {finding["code"]: finding["value"] for finding in findings if finding["unknown"] is None}
    if any(values.get(code) for code in ("failed-requests", "bad-blocks", "data-integrity", "device-lost")):
        return "failing"
    return "degraded" if values.get("slow-regions") else "sound"


def _finding(finding: dict[str, Any]) -> dict[str, Any]:
    value = finding.get("value")
    is_word = isinstance(value, str)
    return {
        "code": _text(finding["code"]),
        "value": None if is_word else _number(value),
        "value_text": _text(value) if is_word else None,
        "unit": _text(finding.get("unit")),
        "low": _number(finding.get("low")),
        "high": _number(finding.get("high")),
        "effective_count": _number(finding.get("effective_count")),
        "unknown": _text(finding.get("unknown")),
    }


def _windows(phases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "start_seconds": _number(phase.get("start_s")),
            "bytes_per_second": _number(phase.get("bytes_per_second")),
            "latency_seconds": (_number((phase.get("latency_ns") or {}).get("mean")) or 0.0) * 1e-9,
        }
        for phase in _list(phases)
        if phase.get("kind") == "measure" and phase.get("bytes_per_second") and phase.get("latency_ns")
    ]


def _histograms(folder: Path, document: dict[str, Any], checksums: dict[str, str]) -> list[dict[str, Any]]:
    """The histograms of each phase and operation, merged over its seconds."""
    merged: dict[tuple[int, str | None], dict[str, Any]] = {}
    for path in sorted(folder.glob("histograms-*.parquet")):
        data = _bounded(path, SERIES_BYTES_MAX)
        if checksums.get(path.name) != f"{zlib.crc32(data):08x}":
            raise ValueError(f"{path.name} does not match its checksum")
        for record in _records(data):
            key = (_count(record["phase"]), _text(record["operation"]))
            entry = merged.setdefault(key, {"operations": 0, "sum": 0.0, "buckets": {}})
            if len(merged) > LIST_MAX:
                raise ValueError(f"it has histograms of more than {LIST_MAX} phases and operations")
            entry["operations"] += _count(record["operations"])
            entry["sum"] += _count(record["latency_ns_sum_high"]) * 2.0**63 + _count(record["latency_ns_sum_low"])
            for bucket, count in decode_cells(record["cells"]):
                entry["buckets"][bucket] = entry["buckets"].get(bucket, 0) + count
    phases = _list(document.get("phases"))
    return [_histogram(key, entry, phases) for key, entry in sorted(merged.items())]


def _records(data: bytes) -> Iterator[dict[str, Any]]:
    """The rows of a series, some at a time, and none that unpacks to more than the program writes."""
    # A text that is repeated is in memory once until its length is known.
    file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=["operation", "cells"])
    groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
    if file.metadata.num_rows > SERIES_ROWS_MAX or sum(group.total_byte_size for group in groups) > SERIES_UNPACKED_MAX:
        raise ValueError(f"a series unpacks to more than {SERIES_ROWS_MAX} rows or {SERIES_UNPACKED_MAX} bytes")
    columns = ["phase", "operation", "operations", "latency_ns_sum_high", "latency_ns_sum_low", "cells"]
    for batch in file.iter_batches(SERIES_BATCH_ROWS, columns=columns):
        for name in ("operation", "cells"):
            longest = pc.max(pc.binary_length(batch[name].dictionary)).as_py()
            if longest is not None and longest > CELLS_BYTES_MAX:
                raise ValueError(f"a value of {name} has {longest} bytes, more than the program writes")
        yield from batch.to_pylist()


def _histogram(key: tuple[int, str | None], entry: dict[str, Any], phases: list[dict[str, Any]]) -> dict[str, Any]:
    phase, operation = key
    workload = phases[phase].get("workload", {}) if 0 <= phase < len(phases) else {}
    sizes = workload.get("block_sizes") or []
    return {
        "phase": phase,
        "operation": operation,
        "block_bytes": _whole(sizes[0]["bytes"]) if len(sizes) == 1 else None,
        "queue_depth": _whole(workload.get("queue_depth")),
        "operations": entry["operations"],
        "latency_ns_sum": entry["sum"],
        "buckets": [{"bucket": bucket, "count": count} for bucket, count in sorted(entry["buckets"].items())],
    }


def _bounded(path: Path, bytes_max: int) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise LakeError(f"cannot read {path}: it is no regular file. Copy the run again from its host.")
    with path.open("rb") as file:
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise LakeError(f"cannot read {path}: it has more than {bytes_max} bytes, more than the program writes.")
    return data


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > LIST_MAX:
        raise ValueError(f"a list has more than {LIST_MAX} entries, or is no list")
    return value


def _text(value: Any) -> str | None:
    """A text of at most 256 characters, control and direction characters written out."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"a text is a {type(value).__name__}")
    shown = "".join(letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}" for letter in value[:TEXT_MAX])
    return shown.encode("utf-8", "replace").decode()


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"a number is a {type(value).__name__}")
    return float(value) if math.isfinite(value) else None


def _whole(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError("a whole number is negative, too large or none")
    return value


def _count(value: Any) -> int:
    whole = _whole(value)
    if whole is None:
        raise ValueError("a count is missing")
    return whole


def _time(text: Any) -> datetime:
    if not isinstance(text, str) or not text.endswith("Z"):
        raise ValueError(f"time {text!r} is not RFC 3339 in UTC")
    whole, _, fraction = text[:-1].partition(".")
    time = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return time.replace(microsecond=int((fraction + "000000")[:6]) if fraction.isdigit() or not fraction else 0)
