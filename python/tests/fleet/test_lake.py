"""A lake keeps each run once, through kills, compaction and hostile hosts."""

from __future__ import annotations

import json
import os
from pathlib import Path

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
    ],
)
def test_hostile_documents_are_refused_with_the_reason(store, changes, why):
    folder = make_run(store, "run-1", **changes)
    with pytest.raises(LakeError, match=why):
        read_run(folder, Inventory())


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
    assert main(["push", "--lake", str(tmp_path / "lake"), "--store", str(store)]) == 1
    assert capsys.readouterr().out == "1 runs added, 0 known, 1 refused\n"


def test_a_host_speaks_only_for_its_own_drives(tmp_path, capsys):
    places = tmp_path / "inventory.csv"
    places.write_text("serial,host,rack,enclosure,slot,batch\nZ300AAAA,node-1,r7,e2,11,\nZ300BBBB,node-2,r7,e2,12,\n")
    for host, job, serial in (("node-1", "a.1", "Z300AAAA"), ("node-1", "b.1", "Z300BBBB"), ("node-2", "c.1", "unknown")):
        make_run(tmp_path / "spool" / host / "initial" / job, "run-1", target={"serial": serial})
    lake = str(tmp_path / "lake")
    assert main(["push", "--lake", lake, "--spool", str(tmp_path / "spool"), "--inventory", str(places)]) == 1
    told = capsys.readouterr()
    assert told.out == "1 runs added, 0 known, 2 refused\n"
    assert "it came from node-1, but the inventory has serial number Z300BBBB on node-2" in told.err
    assert "it came from node-2, but the inventory has serial number unknown on no host" in told.err
    (row,) = all_rows(Lake.open(lake))
    assert (row["host"], row["serial"], row["rack"], row["slot"]) == ("node-1", "Z300AAAA", "r7", 11)
