"""docs/schema/fleet-1.json is the schema that the code declares, and rows are as it says. `UPDATE_SCHEMAS=1` writes it anew."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest

from runs_by_hand import make_run
from drivescope.fleet import schema
from drivescope.fleet.rows import Inventory, read_run, table

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "docs/schema/fleet-1.json"


def test_the_schema_of_a_lake_is_written_down():
    text = json.dumps(schema.document(), indent=2) + "\n"
    if "UPDATE_SCHEMAS" in os.environ:
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text, "out of date: UPDATE_SCHEMAS=1 python -m pytest tests/fleet/test_schema.py"
    page = (ROOT / "docs/reference/lake.md").read_text(encoding="utf-8")
    columns = page[page.index("## Columns") : page.index("## Buckets")]
    assert [name for name in [*schema.RUNS.names, *(field.name for field in schema.FINDING)] if f"`{name}`" not in columns] == []


def test_a_row_is_as_the_schema_says(tmp_path):
    make_run(tmp_path, "run-1")
    (row,) = table([read_run(tmp_path / "runs/run-1", Inventory())]).to_pylist()
    written = {**row, "key": row["key"].hex(), "started": row["started"].isoformat(), "date": "2026-11-01", "drive_model": "m-st4000dm000-c406dab5"}
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    jsonschema.validate(written, kept)
    assert kept["properties"]["slot"] == {"type": ["integer", "null"], "minimum": -(2**31), "maximum": 2**31 - 1, "arrow": "int32"}
    for change in ({"key": None}, {"slot": 2**31}, {"findings": [{"code": "x"}]}, {"model": 3}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**written, **change}, kept)
