"""No round has more drives of a place than its limit."""

from __future__ import annotations

from collections import Counter

import pytest


def drive(serial, **place):
    return {"device": f"/dev/{serial}", "serial": serial, **place}


def job(serial, state="missing", seconds=60.0):
    return {"name": f"{serial}.check", "serial": serial, "experiment": "check", "state": state, "missing": 1, "seconds": seconds, "why": None}


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
        with pytest.raises(ValueError, match="is none of rack, enclosure, controller, host"):
            rounds.rounds([], limits)


def test_the_cost_is_summed_and_unknown_bytes_stay_unknown(rounds):
    jobs = rounds.waiting([{**job("A", seconds=3600), "bytes_read": 5, "bytes_written": 0}, {**job("B", seconds=1800), "bytes_written": 0}], [drive("A"), drive("B")], "h")
    assert rounds.cost(jobs, rounds.rounds(jobs, {"host": 1})) == {
        "runs": 2, "rounds": 2, "bytes_read_max": None, "bytes_written_max": 0, "drive_hours": 1.5, "hours": 1.5,
    }  # fmt: skip


def test_a_serial_number_on_two_hosts_is_refused(rounds):
    assert rounds.inventory_csv([("h", [drive("A", rack="r1", slot=3)])]) == "serial,host,rack,enclosure,slot,batch\nA,h,r1,,3,\n"
    with pytest.raises(ValueError, match="serial number A on h and on i"):
        rounds.inventory_csv([("h", [drive("A")]), ("i", [drive("A")])])
