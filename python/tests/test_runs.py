"""Lists of runs and loading of one, without the program."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import drivescope
from drivescope import Finding, Run, StoreError


def store_of(run: Run, folder: Path) -> Path:
    """A store that has a copy of this run."""
    shutil.copytree(run.folder.parent.parent, folder)
    return folder


def test_no_store_has_no_runs() -> None:
    assert drivescope.runs() == []


def test_a_run_is_listed_and_loaded_without_the_program(
    zoned: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIVESCOPE_PROGRAM", "/nonexistent")
    store = store_of(zoned, tmp_path / "copy")
    (listing,) = drivescope.runs(store)
    assert listing.id == "sim-zoned-check-6d485659"
    assert (listing.status, listing.path, listing.experiments) == ("complete", "sim:zoned", ("check",))
    for name in ("last", "sim-zoned", listing.id, listing.folder):
        assert drivescope.load(name, store).seed == 1


@pytest.mark.parametrize("damage", ["missing", "garbage", "other version", "behind"])
def test_the_list_does_not_depend_on_the_index(zoned: Run, tmp_path: Path, damage: str) -> None:
    store = store_of(zoned, tmp_path / "copy")
    index = store / "index.sqlite"
    expected = drivescope.runs(store)
    for name in ("index.sqlite-wal", "index.sqlite-shm"):
        (store / name).unlink(missing_ok=True)
    if damage == "missing":
        index.unlink()
    elif damage == "garbage":
        index.write_bytes(b"no database" * 1000)
    else:
        with sqlite3.connect(index) as connection:
            statement = "PRAGMA user_version = 99" if damage == "other version" else "UPDATE runs SET facts_bytes = 1"
            connection.execute(statement)
        connection.close()
    assert drivescope.runs(store) == expected


def test_a_damaged_run_is_listed_with_its_damage_and_not_loaded(zoned: Run, tmp_path: Path) -> None:
    store = store_of(zoned, tmp_path / "copy")
    facts = store / "runs" / zoned.id / "run.json"
    facts.write_bytes(facts.read_bytes()[:100])
    (listing,) = drivescope.runs(store)
    assert listing.status is None and listing.damage is not None and "damaged" in listing.damage
    with pytest.raises(StoreError, match="Restore the file from a copy"):
        drivescope.load(zoned.id, store)


def test_a_later_schema_is_refused_with_what_to_do(zoned: Run, tmp_path: Path) -> None:
    store = store_of(zoned, tmp_path / "copy")
    facts = store / "runs" / zoned.id / "run.json"
    document = json.loads(facts.read_bytes())
    document["schema"] = "drivescope.run/2"
    facts.write_text(json.dumps(document))
    with pytest.raises(StoreError, match="'drivescope.run/2'.*Update drivescope"):
        drivescope.load(zoned.id, store)


def test_names_that_lead_nowhere_say_so(zoned: Run, tmp_path: Path) -> None:
    store = store_of(zoned, tmp_path / "copy")
    shutil.copytree(zoned.folder, store / "runs" / "sim-zoned-check-copy")
    with pytest.raises(StoreError, match="2 names begin so"):
        drivescope.load("sim-zoned", store)
    with pytest.raises(StoreError, match="no run in .* is called so"):
        drivescope.load("nosuch", store)
    with pytest.raises(StoreError, match="has none"):
        drivescope.load("last")


def test_findings_have_values_intervals_and_reasons(zoned: Run) -> None:
    outer = zoned["read-rate-outer"]
    assert outer.unit == "B/s" and isinstance(outer.value, float)
    assert outer.interval is not None and outer.interval.confidence == 0.95
    # The profile of this drive: 150 MB/s in its outer zone.
    assert 150e6 in outer.interval and outer.value in outer.interval
    assert 140e6 not in outer.interval
    assert outer.evidence and zoned.phase_names[outer.evidence[0].phase]
    assert "write-cliff" not in zoned
    with pytest.raises(KeyError, match="not measured"):
        zoned["nosuch"]


def test_an_inconclusive_finding_has_a_reason_and_no_value() -> None:
    finding = Finding.from_document({"code": "write-cliff", "unknown": "nothing was written", "later-key": 1})
    assert not finding.is_known
    assert (finding.value, finding.interval, finding.unknown) == (None, None, "nothing was written")
