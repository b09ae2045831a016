"""A lake keeps each run once, through kills, compaction and hostile hosts."""

from __future__ import annotations

import io
import json
import os
import zlib
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runs_by_hand import make_run
from drivescope.fleet import Lake, LakeError
from drivescope.fleet.commands import main
from drivescope.fleet.histogram import bucket_middle_ns, bucket_of, quantile_ns
from drivescope.fleet.rows import Inventory, Place, read_run, run_folders, table


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def push(lake: Lake, store: Path):
    return lake.write(table(read_run(folder, Inventory()) for folder in run_folders(store)))


def all_rows(lake: Lake) -> list[dict]:
    return [row for path in lake.files() for row in pq.read_table(path, partitioning=None).to_pylist()]


def test_a_run_becomes_one_row(tmp_path, store):
    make_run(store, "run-1")
    lake = Lake.open(str(tmp_path / "lake"), create=True)
    inventory = Inventory({"Z300AAAA": Place("rack-7", "enclosure-2", 11, "2026-40")})
    lake.write(table([read_run(store / "runs/run-1", inventory)]))
    assert [str(Path(path).parent.relative_to(lake.root)) for path in lake.files()] == [
        "runs/date=2026-11-01/drive_model=m-st4000dm000-c406dab5"
    ]
    (row,) = all_rows(lake)
    assert (row["serial"], row["rack"], row["slot"], row["seconds"], row["health"]) == ("Z300AAAA", "rack-7", 11, 60.0, "sound")
    assert row["findings"][0]["code"] == "read-rate-outer" and row["findings"][0]["low"] == 1.7e8
    (histogram,) = row["histograms"]
    assert histogram["buckets"] == [{"bucket": 506, "count": 3}, {"bucket": 2072, "count": 1}]
    assert (histogram["operations"], histogram["latency_ns_sum"], histogram["block_bytes"]) == (4, 5003000.0, 4096)


def test_buckets_are_those_of_the_program():
    assert bucket_of([0, 255, 256, 1000, 5_000_000, 2**62]).tolist() == [0, 255, 256, 506, 2072, 7168]
    assert bucket_middle_ns([255, 256, 2072]).tolist() == [255.0, 256.0, 4_997_119.0]
    assert quantile_ns([2072, 506], [1, 3], 0.75) == bucket_middle_ns([506])[0]
    assert quantile_ns([2072, 506], [1, 3], 0.76) == bucket_middle_ns([2072])[0]


def test_nothing_is_stored_twice(tmp_path, store):
    for name in ("run-1", "run-2", "run-3"):
        make_run(store, name)
    lake = Lake.open(str(tmp_path / "lake"), create=True)
    assert push(lake, store).added == 3
    assert (push(lake, store).added, push(lake, store).known) == (0, 3)
    make_run(store, "run-4")
    assert push(lake, store).added == 1
    assert len(lake.files()) == 2
    assert lake.compact() == (2, 1)
    assert push(lake, store).known == 4
    assert sorted(row["run_id"] for row in all_rows(lake)) == ["run-1", "run-2", "run-3", "run-4"]
    assert lake.verify() == []


@pytest.mark.parametrize("operations", range(8))
def test_a_compaction_killed_anywhere_loses_and_doubles_nothing(tmp_path, store, monkeypatch, operations):
    lake = Lake.open(str(tmp_path / "lake"), create=True)
    for name in ("run-1", "run-2"):
        make_run(store, name)
        push(lake, store)
    left = operations

    def killed_after(method):
        def call(*arguments):
            nonlocal left
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
            return method(*arguments)

        return call

    class Dying:
        """Allows so many changes of the file system, then dies."""

        def __getattr__(self, name):
            method = getattr(lake.filesystem, name)
            changes = ("move", "delete_file", "open_output_stream")
            return killed_after(method) if name in changes else method

    dying = Lake(Dying(), lake.root)
    monkeypatch.setattr(Lake, "is_local", True)
    try:
        dying.compact()
    except KeyboardInterrupt:
        pass
    assert sorted(row["run_id"] for row in all_rows(lake)) == ["run-1", "run-2"]
    lake.compact()
    assert sorted(row["run_id"] for row in all_rows(lake)) == ["run-1", "run-2"]
    assert len(lake.files()) == 1 and lake.verify() == []


def test_a_run_under_two_dates_is_added_once_and_the_lake_is_listed_once(tmp_path, store, monkeypatch):
    lake = Lake.open(str(tmp_path / "lake"), create=True)
    make_run(store, "run-1")
    row = read_run(store / "runs/run-1", Inventory())
    copies = [{**row, "started": datetime.fromisoformat(f"2026-11-{day:02}T12:00:00+00:00")} for day in range(1, 21)]
    listings = []
    list_all = Lake._list
    monkeypatch.setattr(Lake, "_list", lambda lake, folder: listings.append(folder) or list_all(lake, folder))
    for added in (1, 0):
        written = lake.write(table([*copies, *copies]), any_date=True)
        assert (written.added, written.known) == (added, 40 - added)
    assert listings == [f"{lake.root}/_log", f"{lake.root}/runs"] * 2


def test_damage_is_seen(tmp_path, store):
    make_run(store, "run-1")
    lake = Lake.open(str(tmp_path / "lake"), create=True)
    push(lake, store)
    path = Path(lake.files()[0])
    path.write_bytes(path.read_bytes()[:-9] + b"X" * 9)
    assert lake.verify() == [str(path.relative_to(lake.root))]


def test_a_folder_that_is_no_lake_is_refused(tmp_path):
    with pytest.raises(LakeError, match="no drivescope.fleet.json there"):
        Lake.open(str(tmp_path))
    (tmp_path / "drivescope.fleet.json").write_text(json.dumps({"schema": "drivescope.fleet/9"}))
    with pytest.raises(LakeError, match="its schema is 'drivescope.fleet/9'"):
        Lake.open(str(tmp_path))


def test_a_model_cannot_leave_its_folder(tmp_path, store):
    make_run(store, "run-1", target={"model": "../../../etc/passwd\n\u202e<script>=1"})
    lake = Lake.open(str(tmp_path / "lake"), create=True)
    push(lake, store)
    (path,) = lake.files()
    folder = Path(path).relative_to(lake.root).parts[2]
    assert folder.startswith("drive_model=m-etc-passwd-u-a-u-202e-script-1-") and len(Path(path).relative_to(lake.root).parts) == 4
    assert all_rows(lake)[0]["model"] == "../../../etc/passwd\\u{a}\\u{202e}<script>=1"


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"document": {"schema": "drivescope.run/2"}}, "its schema is 'drivescope.run/2'"),
        ({"document": {"findings": [{"code": "x"}] * 10_001}}, "more than 10000 entries"),
        ({"target": {"capacity_bytes": 2**64}}, "too large"),
        ({"target": {"serial": ["a"]}}, "a text is a list"),
        ({"findings": [{"code": "x", "value": {}}]}, "a number is a dict"),
        ({"document": {"run": {"id": "x", "started": "yesterday"}}}, "not RFC 3339"),
        ({"document": {"environment": 3}}, "has no attribute 'get'"),
        ({"document": {"run": {"id": "x", "started": "9999-12-31T00:00:00Z"}}}, "began on 9999-12-31, so the clock of its host is wrong"),
        ({"document": {"run": {"id": "x", "started": "0001-01-01T00:00:00Z"}}}, "the clock of its host is wrong"),
        ({"document": {"run": {"id": "x", "started": "2026-11-01T10:00:00Z", "finished": "2026-10-01T10:00:00Z"}}}, "it ended before it began"),
        ({"document": {"phases": [{"workload": {"queue_depth": 2**40}}]}}, "2147483647|out of bounds|too large|overflow"),
        ({"document": {"phases": {"a": 1}}}, "is no list"),
        ({"document": {"phases": [{"errors": -1}]}}, "negative"),
        ({"findings": [{"code": "x", "value": 10**400}]}, "too large"),
    ],
)
def test_hostile_documents_are_refused_with_the_reason(store, changes, why):
    folder = make_run(store, "run-1", **changes)
    with pytest.raises(LakeError, match=why):
        read_run(folder, Inventory())


def write_series(folder: Path, data: bytes) -> None:
    """Another series in the place of the run's, with the checksum that a hostile host would give it."""
    (folder / "histograms-000001.parquet").write_bytes(data)
    (folder / "checksums.txt").write_text(f"{zlib.crc32(data):08x} 1 histograms-000001.parquet\n")


def series(rows: int = 1, **columns: list) -> bytes:
    """A series as the program writes it, with some columns changed."""
    usual = {
        "phase": pa.array([0] * rows, pa.int64()), "operation": pa.array(["read"] * rows), "operations": pa.array([4] * rows, pa.int64()),
        "latency_ns_sum_high": pa.array([0] * rows, pa.int64()), "latency_ns_sum_low": pa.array([5003000] * rows, pa.int64()), "cells": pa.array([b"\x01\x01"] * rows),
    }
    sink = io.BytesIO()
    pq.write_table(pa.table({**usual, **columns}), sink, compression="zstd")
    return sink.getvalue()


@pytest.mark.parametrize(
    "data, why",
    [
        (b"PAR1 and no more", "run-1"),
        (series()[:-40] + b"\xff" * 36 + b"PAR1", "run-1"),
        (series(phase=pa.array([2**40])), "."),
        (series(operations=pa.array([-1])), "negative"),
        (series(operation=pa.array([None], pa.string()), cells=pa.array([None], pa.binary())), "run-1"),
        # 9 bytes of a varint that never ends, and a bucket past the last.
        (series(cells=pa.array([b"\xff" * 11])), "more than 64 bits"),
        (series(cells=pa.array([b"\xff\xff\x7f\x01"])), "past what the program writes"),
        (series(2, operations=pa.array([2**62, 2**62])), "."),
        (series(20_000, operation=pa.array([f"op {number}" for number in range(20_000)])), "more than 10000 phases and operations"),
    ],
)
def test_hostile_series_are_refused_with_the_reason(store, data, why):
    folder = make_run(store, "run-1")
    write_series(folder, data)
    with pytest.raises(LakeError, match=why):
        read_run(folder, Inventory())


def test_a_series_cannot_unpack_to_more_than_the_program_writes(store):
    folder = make_run(store, "run-1")
    # 1 GB in a file of some KB: one text of 50 MB, repeated.
    large = pa.DictionaryArray.from_arrays(pa.array([0] * 20, pa.int32()), pa.array([b"\x01" * 50_000_000]))
    data = series(20, cells=large)
    assert len(data) < 100_000
    write_series(folder, data)
    before = pa.total_allocated_bytes()
    with pytest.raises(LakeError, match="a value of cells has 50000000 bytes, more than the program writes"):
        read_run(folder, Inventory())
    assert pa.total_allocated_bytes() - before < 2**28
    many = pa.array(np.zeros(10_000_001, np.int64))
    rows = {name: many for name in ("phase", "operations", "latency_ns_sum_high", "latency_ns_sum_low")}
    texts = {"operation": pa.array(["read"]).dictionary_encode().take(many), "cells": pa.array([b""]).dictionary_encode().take(many)}
    write_series(folder, series(0, **rows, **texts))
    with pytest.raises(LakeError, match="more than 10000000 rows"):
        read_run(folder, Inventory())


def test_deep_documents_are_refused(store):
    folder = make_run(store, "run-1")
    (folder / "run.json").write_text("[" * 200_000)
    with pytest.raises(LakeError, match="run-1"):
        read_run(folder, Inventory())


def test_numbers_that_are_none_become_unknown(store):
    folder = make_run(store, "run-1", findings=[{"code": "x", "value": float("nan"), "low": float("-inf"), "high": float("inf")}])
    (finding,) = read_run(folder, Inventory())["findings"]
    assert (finding["value"], finding["low"], finding["high"]) == (None, None, None)


def test_a_virtual_run_has_the_date_of_its_file_and_is_added_once(tmp_path, store, capsys):
    run = {"id": "run-1", "started": "1970-01-01T00:00:00Z", "finished": "1970-01-01T00:00:52.5Z", "status": "complete"}
    folder = make_run(store, "run-1", target={"kind": "sim"}, document={"run": run})
    lake = str(tmp_path / "lake")
    for day, told in (("2026-11-02", "1 run added, 0 known"), ("2026-11-05", "0 runs added, 1 known")):
        made = datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp()
        os.utime(folder / "run.json", (made, made))
        assert main(["push", "--lake", lake, "--store", str(store)]) == 0
        assert capsys.readouterr().out == f"{told}, 0 refused\n"
    (row,) = all_rows(Lake.open(lake))
    assert (row["started"].isoformat(), row["seconds"]) == ("2026-11-02T12:00:00+00:00", 52.5)


def test_changed_series_and_links_are_refused(store):
    folder = make_run(store, "run-1")
    series = folder / "histograms-000001.parquet"
    series.write_bytes(series.read_bytes() + b"\0")
    with pytest.raises(LakeError, match="does not match its checksum"):
        read_run(folder, Inventory())
    os.remove(folder / "run.json")
    (folder / "run.json").symlink_to("/etc/passwd")
    with pytest.raises(LakeError, match="no regular file"):
        read_run(folder, Inventory())


def test_one_bad_run_does_not_stop_the_others(tmp_path, store, capsys):
    make_run(store, "run-1")
    make_run(store, "run-2", document={"schema": "other/1"})
    make_run(store, "run-3", document={"phases": [{"workload": {"queue_depth": 2**40}}]})
    write_series(make_run(store, "run-4"), series()[:-40] + b"\xff" * 36 + b"PAR1")
    assert main(["push", "--lake", str(tmp_path / "lake"), "--store", str(store)]) == 1
    assert capsys.readouterr().out == "1 run added, 0 known, 3 refused\n"


def test_a_host_speaks_only_for_its_own_drives(tmp_path, capsys):
    places = tmp_path / "inventory.csv"
    places.write_text("serial,host,rack,enclosure,slot,batch\nZ300AAAA,node-1,r7,e2,11,\nZ300BBBB,node-2,r7,e2,12,\n")
    for host, job, serial in (("node-1", "a.1", "Z300AAAA"), ("node-1", "b.1", "Z300BBBB"), ("node-2", "c.1", "unknown")):
        make_run(tmp_path / "spool" / host / "initial" / job, "run-1", target={"serial": serial})
    lake = str(tmp_path / "lake")
    assert main(["push", "--lake", lake, "--spool", str(tmp_path / "spool"), "--inventory", str(places)]) == 1
    told = capsys.readouterr()
    assert told.out == "1 run added, 0 known, 2 refused\n"
    assert "it came from node-1, but the inventory has serial number Z300BBBB on node-2" in told.err
    assert "it came from node-2, but the inventory has serial number unknown on no host" in told.err
    (row,) = all_rows(Lake.open(lake))
    assert (row["host"], row["serial"], row["rack"], row["slot"]) == ("node-1", "Z300AAAA", "r7", 11)
