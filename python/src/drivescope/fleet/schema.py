"""The schema `drivescope.fleet/1`: one row per run, with findings, histograms, state and windows as lists inside the row.

One row is one object: a run is in the lake as a whole or not at all, and no kill can leave half of it behind.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

NAME = "drivescope.fleet/1"

BUCKET = pa.struct([("bucket", pa.int32()), ("count", pa.int64())])

FINDING = pa.struct(
    [
        ("code", pa.string()),
        ("value", pa.float64()),
        ("value_text", pa.string()),
        ("unit", pa.string()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("effective_count", pa.float64()),
        ("unknown", pa.string()),
    ]
)

HISTOGRAM = pa.struct(
    [
        ("phase", pa.int32()),
        ("operation", pa.string()),
        ("block_bytes", pa.int64()),
        ("queue_depth", pa.int32()),
        ("operations", pa.int64()),
        ("latency_ns_sum", pa.float64()),
        ("buckets", pa.list_(BUCKET)),
    ]
)

STATE = pa.struct([("name", pa.string()), ("text", pa.string())])

WINDOW = pa.struct(
    [("start_seconds", pa.float64()), ("bytes_per_second", pa.float64()), ("latency_seconds", pa.float64())]
)

RUNS = pa.schema(
    [
        pa.field("key", pa.binary(16), nullable=False),
        ("run_id", pa.string()),
        ("started", pa.timestamp("us", tz="UTC")),
        ("seconds", pa.float64()),
        ("status", pa.string()),
        ("version", pa.string()),
        ("experiment", pa.string()),
        ("serial", pa.string()),
        ("model", pa.string()),
        ("firmware", pa.string()),
        ("capacity_bytes", pa.int64()),
        ("host", pa.string()),
        ("rack", pa.string()),
        ("enclosure", pa.string()),
        ("slot", pa.int32()),
        ("batch", pa.string()),
        ("health", pa.string()),
        ("temperature_celsius", pa.float64()),
        ("power_on_hours", pa.float64()),
        ("findings", pa.list_(FINDING)),
        ("histograms", pa.list_(HISTOGRAM)),
        ("state", pa.list_(STATE)),
        ("windows", pa.list_(WINDOW)),
    ],
    metadata={"drivescope.schema": NAME},
)

# Columns that the names of folders hold.
PARTITION = pa.schema([pa.field("date", pa.date32(), nullable=False), pa.field("drive_model", pa.string(), nullable=False)])

# Cells per power of two of the program's histogram, whose cells are the buckets: no percentile changes on the way.
BUCKETS_PER_OCTAVE = 128
BUCKET_COUNT = (64 - 7 + 1) * BUCKETS_PER_OCTAVE


def document() -> dict[str, Any]:
    """The JSON Schema of a row as JSON: bytes as hexadecimal digits, times as RFC 3339; `arrow` is the type in Parquet."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": NAME,
        "description": f"A row of a lake, schema `{NAME}`: columns of its Parquet files, and of the folders they are in. Columns may be added; none is renamed or changes its meaning.",
        **_object([*PARTITION, *RUNS]),
    }


def _object(fields: list[pa.Field]) -> dict[str, Any]:
    return {"type": "object", "properties": {field.name: _property(field.type, field.nullable) for field in fields}, "required": [field.name for field in fields]}


def _property(arrow: pa.DataType, nullable: bool) -> dict[str, Any]:
    described = _described(arrow)
    # A list holds its structures inside: their types stand there.
    outer = {} if kinds.is_nested(arrow) else {"arrow": str(arrow)}
    return {**described, "type": [described["type"], "null"] if nullable else described["type"], **outer}


def _described(arrow: pa.DataType) -> dict[str, Any]:
    if kinds.is_list(arrow):
        return {"type": "array", "items": _object(list(arrow.value_type))}
    if kinds.is_integer(arrow):
        return {"type": "integer", "minimum": -(2 ** (arrow.bit_width - 1)), "maximum": 2 ** (arrow.bit_width - 1) - 1}
    if kinds.is_floating(arrow):
        return {"type": "number"}
    if kinds.is_date(arrow):
        return {"type": "string", "format": "date"}
    if kinds.is_timestamp(arrow):
        return {"type": "string", "format": "date-time"}
    if kinds.is_fixed_size_binary(arrow):
        return {"type": "string", "pattern": f"^[0-9a-f]{{{2 * arrow.byte_width}}}$"}
    assert kinds.is_string(arrow), f"no column of a lake has the type {arrow} so far"
    return {"type": "string"}
