"""Series and phases as Arrow tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow
import pyarrow.compute
import pytest

import drivescope
from drivescope import Run, StoreError


def test_intervals_add_up_to_the_phases(zoned: Run) -> None:
    intervals, phases = zoned.intervals(), zoned.phases()
    assert isinstance(intervals, pyarrow.Table)
    for column in ("bytes", "operations", "errors"):
        assert pyarrow.compute.sum(intervals[column]) == pyarrow.compute.sum(phases[column])
    assert phases.num_rows == len(zoned.phase_names)
    assert phases["latency_ns_p50"][0].as_py() == zoned.document["phases"][0]["latency_ns"]["p50"]


def test_only_the_columns_asked_for_are_read(zoned: Run) -> None:
    assert zoned.intervals(["bytes", "start_ns"]).column_names == ["bytes", "start_ns"]


def test_batches_are_the_series_in_pieces(zoned: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drivescope.tables.BATCH_ROWS", 100)
    pieces = list(zoned.batches("intervals"))
    assert len(pieces) > 10 and max(piece.num_rows for piece in pieces) == 100
    assert pyarrow.Table.from_batches(pieces).equals(zoned.intervals())
    assert zoned.batches("intervals", ["bytes", "start_ns"]).read_all().column_names == ["bytes", "start_ns"]
    with pytest.raises(StoreError, match="the run has none"):
        zoned.batches("errors")


def test_phases_are_those_of_the_export(zoned: Run, tmp_path: Path) -> None:
    from drivescope.program import output_of
    from pyarrow import parquet

    store = zoned.folder.parent.parent
    exported = tmp_path / "phases.parquet"
    output_of(["export", zoned.id, "--store", str(store), "--table", "phases", "-o", str(exported)])
    told = parquet.read_table(exported).drop_columns(["run_id"]).replace_schema_metadata(None)
    ours = zoned.phases()
    assert ours.schema.names == told.schema.names
    for name in told.schema.names:
        assert ours[name].to_pylist() == told[name].to_pylist(), name


def test_a_series_that_is_missing_damaged_or_unfinished_says_so(zoned: Run, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the run has none"):
        zoned.series("errors")
    with pytest.raises(StoreError, match="the series are intervals"):
        zoned.series("nosuch")
    folder = tmp_path / "runs" / "copy"
    shutil.copytree(zoned.folder, folder)
    run = drivescope.load(folder)
    segment = folder / "intervals-000001.parquet"
    segment.write_bytes(segment.read_bytes()[:-20])
    with pytest.raises(StoreError, match="cannot read .*intervals-000001.parquet"):
        run.intervals()
    segment.rename(folder / "intervals-000001.journal")
    with pytest.raises(StoreError, match="in a journal.*drivescope export"):
        run.intervals()
