"""The schema `drivescope.fleet/1`: one row per run, with findings, histograms, state and windows as lists inside the row.

One row is one object: a run is in the lake as a whole or not at all, and no kill can leave half of it behind.
"""

from __future__ import annotations

import pyarrow as pa

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

# Cells per power of two of the program's histogram, whose cells are the buckets: no percentile changes on the way.
BUCKETS_PER_OCTAVE = 128
BUCKET_COUNT = (64 - 7 + 1) * BUCKETS_PER_OCTAVE
