"""Series and phases of a run as Arrow tables, which pandas, Polars and DuckDB read without a copy."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence

from .errors import StoreError

if TYPE_CHECKING:
    import pyarrow

#: Series of a run, by the name of their files.
SERIES = ("intervals", "histograms", "errors", "telemetry", "trace")
#: Rows of a piece, as many as the program writes at once.
BATCH_ROWS = 32_768
_SEGMENT = re.compile(r"([a-z]+)-(\d{6,})\.(parquet|journal)")
_FORMAT = b"drivescope.format"
_FORMAT_VERSION = 1


def segments(folder: Path, series: str) -> list[Path]:
    """The Parquet files of a series, in order.

    Raises :class:`StoreError` when records are still in a journal: the run was killed, or is under way.
    """
    found: dict[int, Path] = {}
    waiting: set[int] = set()
    for path in folder.iterdir():
        match = _SEGMENT.fullmatch(path.name)
        if match is None or match[1] != series:
            continue
        number = int(match[2])
        if match[3] == "parquet":
            found[number] = path
        else:
            waiting.add(number)
    if waiting - set(found):
        raise StoreError(
            f"cannot read all {series} of {folder}: the last records are in a journal, since the run is under way or was "
            f"killed. 'drivescope export {folder.name} --format parquet -o FOLDER' reads them too."
        )
    return [found[number] for number in sorted(found)]


def read_series(folder: Path, series: str, columns: Optional[Sequence[str]] = None) -> pyarrow.Table:
    """A series of a run as one Arrow table; see ``docs/reference/exports.md`` for its columns.

    Files are mapped, not copied, and columns that are not asked for are not decoded. Raises :class:`StoreError` when a
    file is damaged, of a later version, or when there is no such series.
    """
    import pyarrow
    import pyarrow.parquet

    tables = []
    for path in _known_segments(folder, series):
        with _reading(path), pyarrow.parquet.ParquetFile(path, memory_map=True) as file:
            _check_version(path, file.schema_arrow.metadata or {})
            tables.append(file.read(columns=None if columns is None else list(columns)))
    return pyarrow.concat_tables(table.replace_schema_metadata(None) for table in tables)


def read_batches(folder: Path, series: str, columns: Optional[Sequence[str]] = None) -> pyarrow.RecordBatchReader:
    """A series of a run piece by piece: never more than :data:`BATCH_ROWS` rows of it are in memory.

    Raises :class:`StoreError` as :func:`read_series` does; of a later file, while the pieces are read.
    """
    import pyarrow
    import pyarrow.parquet

    paths = _known_segments(folder, series)
    wanted = None if columns is None else list(columns)
    with _reading(paths[0]):
        schema = pyarrow.parquet.read_schema(paths[0]).remove_metadata()
    if wanted is not None:
        schema = pyarrow.schema([schema.field(name) for name in wanted])

    def batches() -> Iterator[pyarrow.RecordBatch]:
        for path in paths:
            # With its buffer ahead the reader would hold the whole file.
            with _reading(path), pyarrow.parquet.ParquetFile(path, pre_buffer=False) as file:
                _check_version(path, file.schema_arrow.metadata or {})
                for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
                    yield batch.replace_schema_metadata(None).select(schema.names)

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def _known_segments(folder: Path, series: str) -> list[Path]:
    if series not in SERIES:
        raise StoreError(f"cannot read series {series!r}: the series are {', '.join(SERIES)}.")
    found = segments(folder, series)
    if not found:
        raise StoreError(f"cannot read {series} of {folder}: the run has none.")
    return found


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    import pyarrow

    try:
        yield
    except (OSError, pyarrow.ArrowException) as error:
        raise StoreError(f"cannot read {path}: {error}. 'drivescope show' reads the rest of the run.") from error


def _check_version(path: Path, metadata: Mapping[bytes, bytes]) -> None:
    version = metadata.get(_FORMAT, b"")
    if not version.isdigit() or int(version) > _FORMAT_VERSION:
        raise StoreError(
            f"cannot read {path}: its format is {version.decode(errors='replace') or 'not stated'}, and this version reads "
            f"{_FORMAT_VERSION}. Update drivescope."
        )


def phase_table(phases: Sequence[Mapping[str, Any]]) -> pyarrow.Table:
    """A row for each phase and operation, with the columns of the table ``phases`` in ``docs/reference/exports.md``."""
    import pyarrow

    rows = [row for number, phase in enumerate(phases) for row in _rows(number, phase)]
    schema = pyarrow.schema(
        [(name, getattr(pyarrow, kind)()) for name, kind in _PHASE_COLUMNS.items()],
    )
    return pyarrow.Table.from_pylist(rows, schema=schema)


_PHASE_COLUMNS = {
    "phase": "int64",
    "phase_name": "string",
    "experiment": "string",
    "kind": "string",
    "operation": "string",
    "pattern": "string",
    "range_first_byte": "int64",
    "range_bytes": "int64",
    "block_bytes": "int64",
    "read_share": "float64",
    "queue_depth": "int64",
    "threads": "int64",
    "caching": "string",
    "stopped": "string",
    "start_ns": "int64",
    "duration_ns": "int64",
    "operations": "int64",
    "bytes": "int64",
    "errors": "int64",
    "operations_per_second": "float64",
    "bytes_per_second": "float64",
    "latency_ns_min": "int64",
    "latency_ns_mean": "float64",
    "latency_ns_p50": "int64",
    "latency_ns_p90": "int64",
    "latency_ns_p99": "int64",
    "latency_ns_p999": "int64",
    "latency_ns_max": "int64",
}
_READ_SHARES = {"read": 1.0, "write": 0.0}


def _rows(number: int, phase: Mapping[str, Any]) -> list[dict[str, Any]]:
    workload = phase.get("workload") or {}
    area = workload.get("range") or {}
    mix = workload.get("mix") or {}
    sizes = workload.get("block_sizes") or []
    common: dict[str, Any] = {
        "phase": number,
        "phase_name": phase["name"],
        "experiment": phase["experiment"],
        "kind": phase["kind"],
        "pattern": (workload.get("pattern") or {}).get("kind"),
        "range_first_byte": area.get("first_byte"),
        "range_bytes": area.get("bytes"),
        "block_bytes": sizes[0]["bytes"] if len(sizes) == 1 else None,
        "read_share": mix.get("read_share", _READ_SHARES.get(mix.get("kind", ""))),
        "queue_depth": workload.get("queue_depth"),
        "threads": workload.get("threads"),
        "caching": workload.get("caching"),
        "stopped": phase.get("stopped"),
        "start_ns": phase["start_ns"],
        "duration_ns": phase["duration_ns"],
    }
    rows = []
    for totals in phase.get("by_operation") or [{}]:
        row = {**common, "operation": totals.get("operation")}
        for name in ("operations", "bytes", "errors"):
            row[name] = totals.get(name, 0)
        if phase["duration_ns"] > 0:
            seconds = phase["duration_ns"] / 1e9
            row["operations_per_second"] = row["operations"] / seconds
            row["bytes_per_second"] = row["bytes"] / seconds
        for quantile, value in (totals.get("latency_ns") or {}).items():
            row[f"latency_ns_{quantile}"] = value
        rows.append(row)
    return rows
