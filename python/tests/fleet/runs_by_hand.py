"""Runs of one small drive, made by hand, so that the tests of the fleet need no program."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def make_run(store: Path, name: str, **changes) -> Path:
    """A run folder as the program writes it: 3 requests of 1,000 ns and 1 of 5,000,000 ns."""
    folder = store / "runs" / name
    folder.mkdir(parents=True)
    target = {"model": "ST4000DM000", "serial": "Z300AAAA", "firmware": "CC52", "capacity_bytes": 4000787030016}
    target.update(changes.get("target", {}))
    document = {
        "schema": "drivescope.run/1",
        "run": {
            "id": name,
            "started": "2026-11-01T10:00:00.5Z",
            "finished": "2026-11-01T10:01:00.5Z",
            "status": "complete",
            "version": "0.1.0",
        },
        "target": target,
        "environment": {"host": "host-1"},
        "phases": [{"experiment": "check", "kind": "measure", "workload": {"queue_depth": 1, "block_sizes": [{"bytes": 4096}]}}],
        "findings": changes.get(
            "findings", [{"code": "read-rate-outer", "value": 1.8e8, "unit": "B/s", "low": 1.7e8, "high": 1.9e8}]
        ),
    }
    document.update(changes.get("document", {}))
    (folder / "run.json").write_text(json.dumps(document))
    # Bucket 506 (1,000 ns) three times, bucket 2072 (5,000,000 ns) once; steps of 506 and 1,566 in groups of seven bits.
    cells = bytes([0xFA, 0x03, 3, 0x9E, 0x0C, 1])
    series = pa.table(
        {
            "phase": [0],
            "operation": ["read"],
            "operations": [4],
            "latency_ns_sum_high": [0],
            "latency_ns_sum_low": [5003000],
            "cells": [cells],
        }
    )
    pq.write_table(series, folder / "histograms-000001.parquet")
    crc = zlib.crc32((folder / "histograms-000001.parquet").read_bytes())
    (folder / "checksums.txt").write_text(f"{crc:08x} 1 histograms-000001.parquet\n")
    return folder

