"""Published data of large fleets as rows of a lake: Backblaze's drive statistics, and Alibaba's Perseus data set.

Neither measured with drivescope. What they know becomes findings, windows, health and places; what they do not know stays empty,
and questions about it say so.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from . import schema
from .lake import LakeError
from .rows import LIST_MAX, TEXT_MAX

# Columns of Backblaze that are read, of about 200. Places are there since 2024; older files lack them.
BACKBLAZE = {
    "date": pa.string(), "serial_number": pa.string(), "model": pa.string(), "capacity_bytes": pa.int64(), "failure": pa.int64(),
    "datacenter": pa.string(), "cluster_id": pa.string(), "vault_id": pa.string(), "pod_id": pa.string(), "pod_slot_num": pa.float64(),
    "smart_9_raw": pa.float64(), "smart_194_raw": pa.float64(), "smart_197_raw": pa.float64(),
}
BACKBLAZE_NEEDED = ("date", "serial_number", "model", "capacity_bytes", "failure")
PERSEUS = {"ts": pa.float64(), "disk_id": pa.string(), "throughput": pa.float64(), "latency": pa.float64()}
HOURS_MAX = 2e5
CELSIUS_MAX = 127


def backblaze(files: Sequence[Path]) -> Iterator[pa.Table]:
    """A table for each day of daily CSV files, or of the ZIP files of a quarter."""
    for name, data in _opened(files):
        yield _backblaze_day(name, _read_csv(name, data, BACKBLAZE, BACKBLAZE_NEEDED))


def _backblaze_day(name: str, day: pa.Table) -> pa.Table:
    n = day.num_rows
    try:
        started = pc.strptime(day["date"], format="%Y-%m-%d", unit="us").cast(pa.timestamp("us", tz="UTC"))
    except pa.ArrowException as error:
        raise LakeError(f"cannot read {name}: {error}. Its column date has dates such as 2026-10-01.")
    # Some drives pack the lowest and highest temperature into the upper bytes, some the minutes into those of the hours.
    celsius = pc.cast(pc.bit_wise_and(_whole(day["smart_194_raw"]), 0xFF), pa.float64())
    hours = pc.cast(pc.bit_wise_and(_whole(day["smart_9_raw"]), 0xFFFFFF), pa.float64())
    failed = pc.equal(day["failure"], 1)
    pending = pc.fill_null(pc.greater(day["smart_197_raw"], 0), False)
    found = [("failed", pc.cast(pc.cast(failed, pa.int8()), pa.float64())), ("bad-blocks", day["smart_197_raw"])]
    return _table(
        n,
        key=_keys("backblaze", day["serial_number"], day["date"]),
        run_id=pc.binary_join_element_wise("backblaze", _text(day["serial_number"]), day["date"], "-"),
        started=started,
        status=_same("complete", n),
        version=_same("backblaze", n),
        experiment=_same("smart", n),
        serial=_text(day["serial_number"]),
        model=_text(day["model"]),
        # A drive that does not answer is published with -1.
        capacity_bytes=pc.if_else(pc.greater(day["capacity_bytes"], 0), day["capacity_bytes"], pa.scalar(None, pa.int64())),
        host=_joined("pod", day["cluster_id"], day["vault_id"], day["pod_id"]),
        rack=_joined("vault", day["datacenter"], day["cluster_id"], day["vault_id"]),
        enclosure=_joined("pod", day["cluster_id"], day["vault_id"], day["pod_id"]),
        slot=_whole(day["pod_slot_num"]).cast(pa.int32(), safe=False),
        health=pc.if_else(pc.or_(failed, pending), "failing", "sound"),
        temperature_celsius=pc.if_else(pc.less_equal(celsius, CELSIUS_MAX), celsius, pa.scalar(None, pa.float64())),
        power_on_hours=pc.if_else(pc.less_equal(hours, HOURS_MAX), hours, pa.scalar(None, pa.float64())),
        findings=_findings(n, found),
    )


def perseus(folder: Path) -> Iterator[pa.Table]:
    """A table for each host and day of `CLUSTER/HOST/YYYY-MM-DD.csv`: throughput and latency of each drive every 15 s.

    Models are not published. Drives of one cluster are taken as equals, as the authors do for those of one node.
    """
    files = sorted(folder.glob("*/*/????-??-??.csv"))
    if not files:
        raise LakeError(f"cannot read {folder}: no CLUSTER/HOST/YYYY-MM-DD.csv below it. Unpack the data set there.")
    for path in files:
        cluster, host, date = path.parent.parent.name, path.parent.name, path.stem
        samples = _read_csv(str(path), path.read_bytes(), PERSEUS, tuple(PERSEUS))
        usable = pc.and_(pc.greater(samples["throughput"], 0), pc.greater(samples["latency"], 0))
        samples = samples.filter(usable).sort_by([("disk_id", "ascending"), ("ts", "ascending")])
        if samples.num_rows > 0:
            yield _perseus_day(cluster, host, date, samples)


def _perseus_day(cluster: str, host: str, date: str, samples: pa.Table) -> pa.Table:
    try:
        midnight = datetime.fromisoformat(date).replace(tzinfo=timezone.utc)
    except ValueError as error:
        raise LakeError(f"cannot read {date}.csv of {host}: {error}. Files are named by their day, such as 2026-10-01.csv.")
    counts = samples["disk_id"].combine_chunks().value_counts()
    disks, lengths = counts.field("values"), counts.field("counts").to_pylist()
    offsets = [0]
    for disk, length in zip(disks.to_pylist(), lengths):
        if length > LIST_MAX:
            raise LakeError(f"cannot read drive {disk} of {host} on {date}: {length} samples a day, more than {LIST_MAX}.")
        offsets.append(offsets[-1] + length)
    n = len(disks)
    serial = _joined(cluster, _same(host, n), disks)
    windows = pa.StructArray.from_arrays(
        [
            pc.subtract(samples["ts"].combine_chunks(), midnight.timestamp()),
            samples["throughput"].combine_chunks(),
            pc.multiply(samples["latency"].combine_chunks(), 1e-6),
        ],
        fields=list(schema.WINDOW),
    )
    return _table(
        n,
        key=_keys("perseus", serial, _same(date, n)),
        run_id=pc.binary_join_element_wise("perseus", serial, date, "-"),
        started=_same(midnight, n, pa.timestamp("us", tz="UTC")),
        seconds=_same(86_400.0, n),
        status=_same("complete", n),
        version=_same("perseus", n),
        experiment=_same("production", n),
        serial=serial,
        model=_same(f"drives of {cluster}"[:TEXT_MAX], n),
        host=_same(host[:TEXT_MAX], n),
        rack=_same(cluster[:TEXT_MAX], n),
        enclosure=_same(f"{cluster}/{host}"[:TEXT_MAX], n),
        windows=pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), windows),
    )


def _opened(files: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    for path in files:
        if path.suffix != ".zip":
            yield str(path), path.read_bytes()
            continue
        try:
            with zipfile.ZipFile(path) as archive:
                # Archives made on a Mac have a second, empty copy of each file.
                for name in sorted(name for name in archive.namelist() if name.endswith(".csv") and "__MACOSX" not in name):
                    yield f"{path}: {name}", archive.read(name)
        except zipfile.BadZipFile as error:
            raise LakeError(f"cannot read {path}: {error}. Fetch it again.")


def _read_csv(name: str, data: bytes, types: dict[str, pa.DataType], needed: tuple[str, ...]) -> pa.Table:
    """These columns; those that are missing and not needed are empty."""
    options = pacsv.ConvertOptions(column_types=types, include_columns=list(types), include_missing_columns=True, strings_can_be_null=True)
    header = data.split(b"\n", 1)[0].decode("utf-8", "replace").replace('"', "").strip().split(",")
    missing = [column for column in needed if column not in header]
    if missing:
        raise LakeError(f"cannot read {name}: it has no column {missing[0]}. Its first line has to name {', '.join(needed)}.")
    try:
        return pacsv.read_csv(io.BytesIO(data), convert_options=options)
    except pa.ArrowException as error:
        raise LakeError(f"cannot read {name}: {error}. Fetch it again.")


def _table(n: int, **columns: Any) -> pa.Table:
    """All columns of the lake, lists empty and others null where nothing is known."""
    arrays = []
    for field in schema.RUNS:
        if field.name in columns:
            column = columns[field.name]
        elif pa.types.is_list(field.type):
            column = pa.ListArray.from_arrays(pa.array([0] * (n + 1), pa.int32()), pa.array([], field.type.value_type))
        else:
            column = pa.nulls(n, field.type)
        arrays.append(column.cast(field.type))
    return pa.table(arrays, schema=schema.RUNS)


def _keys(source: str, serial: Any, date: Any) -> pa.Array:
    """The same for the same drive and day, so that a file that is read twice adds nothing."""
    texts = zip(serial.to_pylist(), date.to_pylist())
    return pa.array([hashlib.sha256(f"{source}\0{one}\0{day}".encode()).digest()[:16] for one, day in texts], pa.binary(16))


def _text(column: Any) -> Any:
    """At most 256 characters; those that are no letters, digits or punctuation are replaced."""
    return pc.utf8_slice_codeunits(pc.replace_substring_regex(column, r"[^ -~]", "?"), 0, TEXT_MAX)


def _joined(prefix: str, *parts: Any) -> Any:
    """Parts with a slash between them; null where one is."""
    return _text(pc.binary_join_element_wise(prefix, *parts, "/"))


def _same(value: Any, n: int, kind: pa.DataType | None = None) -> pa.Array:
    return pa.array([value] * n, kind)


def _whole(column: Any) -> Any:
    """Numbers of 0 to 2^62, others null."""
    good = pc.and_(pc.greater_equal(column, 0.0), pc.less(column, 2.0**62))
    return pc.cast(pc.floor(pc.if_else(good, column, pa.scalar(None, pa.float64()))), pa.int64())


def _findings(n: int, found: list[tuple[str, Any]]) -> pa.ListArray:
    """The findings of each row one after the other; a value that is null has the reason `not reported`."""
    k = len(found)
    order = pa.array([row + n * index for row in range(n) for index in range(k)], pa.int64())
    value = pa.concat_arrays([_one_array(values) for _code, values in found]).take(order)
    fields = [
        pa.array([code for _row in range(n) for code, _values in found], pa.string()),
        value,
        pa.nulls(n * k, pa.string()),
        _same("count", n * k, pa.string()),
        pa.nulls(n * k, pa.float64()),
        pa.nulls(n * k, pa.float64()),
        pa.nulls(n * k, pa.float64()),
        pc.if_else(pc.is_null(value), "not reported", pa.scalar(None, pa.string())),
    ]
    values = pa.StructArray.from_arrays(fields, fields=list(schema.FINDING))
    return pa.ListArray.from_arrays(pa.array(range(0, n * k + 1, k), pa.int32()), values)


def _one_array(column: Any) -> pa.Array:
    return (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).cast(pa.float64())
