"""The filters of the Ansible collection, which run on controllers of any age: no round has more drives of a place than its limit."""

from __future__ import annotations

import ast
import datetime
import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

PLUGINS = Path(__file__).parents[2] / "packaging/ansible/plugins"


@pytest.fixture(scope="session")
def rounds() -> ModuleType:
    spec = importlib.util.spec_from_file_location("filter_rounds", PLUGINS / "filter/rounds.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drive(serial, **place):
    return {"device": f"/dev/{serial}", "serial": serial, **place}


def job(serial, state="missing", seconds=60.0, seconds_max=None):
    own = {"name": f"{serial}.check", "serial": serial, "experiment": "check", "state": state, "missing": 1, "why": None}
    return {**own, "seconds": seconds, "seconds_max": seconds_max}


def test_limits_of_racks_and_enclosures_hold_across_hosts(rounds):
    drives = {
        f"host-{host}": [drive(f"Z{host}{slot}", rack=f"r{host % 2}", enclosure=f"e{slot % 2}", controller="0") for slot in range(6)]
        for host in range(8)
    }
    jobs = [one for host, own in drives.items() for one in rounds.waiting([job(d["serial"]) for d in own], own, host)]
    made = rounds.rounds(jobs, {"rack": 3, "enclosure": 2, "host": 2})
    places = {one["name"]: one["places"] for one in jobs}
    for one in made:
        used = Counter((kind, places[name][kind]) for names in one.values() for name in names for kind in ("rack", "enclosure", "host"))
        assert all(count <= {"rack": 3, "enclosure": 2, "host": 2}[kind] for (kind, _), count in used.items())
    assert Counter(name for one in made for names in one.values() for name in names) == Counter(list(places))
    # 24 drives in each of 2 racks, 3 at a time, take 8 rounds at least.
    assert len(made) == 9


def test_what_still_runs_comes_first_and_alone(rounds):
    own = [drive("A"), drive("B"), drive("C")]
    jobs = rounds.waiting([job("A", seconds=1), job("B", "running"), job("C", seconds=9), job("D", "done")], [*own, drive("D")], "h")
    assert rounds.rounds(jobs, {"host": 1}) == [{"h": ["B.check"]}, {"h": ["C.check"]}, {"h": ["A.check"]}]


def test_limits_that_are_none_are_refused(rounds):
    for limits in ({"shelf": 1}, {"rack": 0}):
        with pytest.raises(ValueError, match="are numbers above 0 for rack, enclosure, controller, host"):
            rounds.rounds([], limits)


def test_the_cost_is_summed_and_unknown_bytes_stay_unknown(rounds):
    planned = [{**job("A", seconds=3600, seconds_max=7200), "bytes_read": 5, "bytes_written": 0}, {**job("B", seconds=1800), "bytes_written": 0}]
    jobs = rounds.waiting(planned, [drive("A"), drive("B")], "h")
    assert rounds.cost(jobs, rounds.rounds(jobs, {"host": 1})) == {
        "runs": 2, "rounds": 2, "bytes_read_max": None, "bytes_written_max": 0, "drive_hours": 1.5, "hours": 1.5, "hours_max": None,
    }  # fmt: skip
    assert rounds.cost(jobs[:1], [{"h": ["A.check"]}])["hours_max"] == 2
    # The longer of two that are measured at the same time.
    assert rounds.cost(jobs, rounds.rounds(jobs, {"host": 2}))["hours"] == 1


def test_a_duration_that_is_unknown_stays_unknown(rounds):
    jobs = rounds.waiting([job("A", seconds=None), job("B")], [drive("A"), drive("B")], "h")
    told = rounds.cost(jobs, rounds.rounds(jobs, {"host": 1}))
    assert (told["runs"], told["rounds"], told["drive_hours"], told["hours"]) == (2, 2, None, None)
    assert rounds.cost([], [])["hours"] == 0


def test_a_serial_number_on_two_hosts_is_refused(rounds):
    assert rounds.inventory_csv([("h", [drive("A", rack="r1", slot=3)])]) == "serial,host,rack,enclosure,slot,batch\nA,h,r1,,3,\n"
    with pytest.raises(ValueError, match="serial number A on h and on i"):
        rounds.inventory_csv([("h", [drive("A")]), ("i", [drive("A")])])


def test_a_consent_holds_for_its_serial_number_until_its_day(rounds):
    today = datetime.datetime.now(datetime.timezone.utc).date()
    yesterday = today - datetime.timedelta(days=1)
    assert rounds.holds([{"serial": "A", "until": str(today)}], "A")
    # YAML reads a day without quotes as a date.
    assert rounds.holds([{"serial": "A", "until": today}], "A")
    assert not rounds.holds([{"serial": "A", "until": str(yesterday)}, {"serial": "B", "until": "9999-12-31"}], "A")


@pytest.mark.parametrize("serial", ['A", RUN+="/bin/sh', "A*", "A?B", "A|B", "", "A B"])
def test_a_serial_number_that_means_more_in_a_rule_is_refused(rounds, serial):
    assert rounds.udev("S3X-1.2_a") == "S3X-1.2_a"
    with pytest.raises(ValueError, match="no udev rule can be made"):
        rounds.udev(serial)


def test_the_checksum_is_that_of_the_file(rounds, tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")
    assert rounds.sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("path", sorted(PLUGINS.rglob("*.py")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_plugins_are_python_of_the_oldest_hosts(path):
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
