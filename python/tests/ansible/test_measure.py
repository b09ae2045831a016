"""A host measures what it was asked for once, and writes only with a consent that holds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

PROGRAM = os.environ.get("DRIVESCOPE_PROGRAM", "drivescope")


def job(measure, tmp_path: Path, device="sim:zoned", serial="Z1", **experiment):
    consents = experiment.pop("consents", [])
    parameters = {
        "program": PROGRAM, "store": str(tmp_path / "store"), "campaign": "initial", "consents": consents,
        "load_max": experiment.pop("load_max", 1e6), "temperature_max": 55, "watch_seconds": experiment.pop("watch_seconds", 60),
    }  # fmt: skip
    experiment = {"experiment": "check", "options": [], "repeat": 1, "write": False, **experiment}
    return measure.Job(parameters, {"device": device, "serial": serial}, experiment)


def done(measure, one):
    results = []
    measure.measured(one, 1, results)
    return results[0]


def test_a_job_is_done_once(measure, tmp_path):
    one = job(measure, tmp_path, repeat=2)
    assert {key: measure.planned(one)[key] for key in ("state", "missing", "bytes_written")} == {"state": "missing", "missing": 2, "bytes_written": 0}
    assert not (tmp_path / "store").exists(), "planning changes nothing"
    assert done(measure, one)["measured"] == 2
    assert done(measure, one) == {"name": one.name, "serial": "Z1", "experiment": "check", "why": None, "state": "done", "measured": 0, "missing": 0}
    assert measure.planned(one)["state"] == "done"
    seeds = [json.loads(path.read_text())["run"]["seed"] for path in (tmp_path / "store").rglob("run.json")]
    assert len(seeds) == 2 and seeds[0] != seeds[1]


def test_a_run_that_was_killed_is_resumed(measure, tmp_path):
    target = tmp_path / "target"
    target.write_bytes(os.urandom(1 << 26))
    one = job(measure, tmp_path, device=str(target), options=["--time-limit=6s"])
    killed = subprocess.Popen([*one.command(1), "--quiet", "--store", one.store(1)], stdout=subprocess.DEVNULL)
    while killed.poll() is None and not list(Path(one.store(1)).glob("runs/*/*.journal")):
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    name, status = one.run(1)
    assert status not in measure.FINISHED and one.command(1)[2:4] == ["--resume", name]
    assert done(measure, one)["state"] == "done"
    assert one.run(1) == (name, "complete") and len(list(Path(one.store(1)).glob("runs/*/run.json"))) == 1


def test_writes_need_a_consent_for_the_serial_number_that_has_not_expired(measure, tmp_path):
    asked = {"device": "sim:lying-stick", "serial": "SIM-LYING-STICK", "experiment": "verify", "write": True}
    other = {"serial": "Z2", "until": "9999-12-31", "destroy_data": False}
    why = done(measure, job(measure, tmp_path, **asked, consents=[other]))["why"]
    assert why.startswith("no consent to write to this serial number.")
    old = {"serial": "SIM-LYING-STICK", "until": "2026-01-31", "destroy_data": True}
    why = done(measure, job(measure, tmp_path, **asked, consents=[old]))["why"]
    assert why == "the consent to write expired on 2026-01-31. Renew it in the vault."
    assert not list((tmp_path / "store").rglob("run.json"))
    held = job(measure, tmp_path, **asked, consents=[other, {**old, "until": "9999-12-31"}])
    assert held.command(1)[-3:] == ["--confirm", "SIM-LYING-STICK", "--destroy-data"]
    assert done(measure, held)["state"] == "done"


def test_a_writing_run_that_was_interrupted_is_resumed_only_while_its_consent_holds(measure, tmp_path, monkeypatch):
    asked = {"device": "sim:lying-stick", "serial": "SIM-LYING-STICK", "experiment": "verify", "write": True}
    consent = {"serial": "SIM-LYING-STICK", "until": "9999-12-31", "destroy_data": False}
    monkeypatch.setattr(measure.Job, "run", lambda *_: ("run-1", "interrupted"))
    held = job(measure, tmp_path, **asked, consents=[consent]).command(1)
    assert held[1:] == ["verify", "--resume", "run-1", "--write", "--confirm", "SIM-LYING-STICK"]
    monkeypatch.setattr(measure.subprocess, "Popen", lambda *_, **__: pytest.fail("the program was started"))
    told = done(measure, job(measure, tmp_path, **asked, consents=[{**consent, "until": "2026-01-31"}]))
    assert (told["state"], told["why"]) == ("failed", "the consent to write expired on 2026-01-31. Renew it in the vault.")


def test_without_write_no_option_can_allow_it(measure, tmp_path):
    for option in ("--write", "--destroy-data", "--confirm=Z1", "--preserve", "--store=/x", "--resume=x", "/dev/sda", "-q", "--json=/etc/x"):
        told = measure.planned(job(measure, tmp_path, options=[option]))
        assert told["state"] == "failed" and f"option {option!r} is not allowed" in told["why"], option
    assert "--write" not in job(measure, tmp_path).command(1)


def test_devices_that_are_not_there_or_would_get_a_file_are_refused(measure, tmp_path):
    assert "cannot measure /dev/nosuch: no such device." in done(measure, job(measure, tmp_path, device="/dev/nosuch"))["why"]
    assert "is a folder" in done(measure, job(measure, tmp_path, device=str(tmp_path)))["why"]
    assert "is not an absolute path" in done(measure, job(measure, tmp_path, device="sda"))["why"]


def test_load_and_temperature_stop_a_measurement(measure, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (9.0, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    told = done(measure, job(measure, tmp_path, load_max=1.5))
    assert (told["state"], told["why"], told["missing"]) == ("deferred", "load per processor is 2.00, limit 1.5", 1)

    looks = iter([None, "drive temperature is 61 °C, limit 55 °C"])
    monkeypatch.setattr(measure, "obstacle", lambda *_: next(looks))
    target = tmp_path / "target"
    target.write_bytes(os.urandom(1 << 26))
    told = done(measure, job(measure, tmp_path, device=str(target), watch_seconds=2))
    assert (told["state"], told["why"]) == ("deferred", "stopped: drive temperature is 61 °C, limit 55 °C")
    (document,) = (tmp_path / "store").rglob("run.json")
    assert json.loads(document.read_text())["run"]["status"] == "interrupted", "it is kept, to be resumed"


@pytest.mark.parametrize("sensor", ["hwmon/hwmon3/temp1_input", "hwmon1/temp1_input"])
def test_temperatures_of_sata_and_nvme_are_found(measure, tmp_path, sensor):
    path = tmp_path / "class/block/sdx/device" / sensor
    path.parent.mkdir(parents=True)
    path.write_text("41500\n")
    assert measure.temperature("/dev/sdx", str(tmp_path)) == 41.5
    assert measure.temperature("/dev/sdy", str(tmp_path)) is None


def test_each_experiment_states_what_it_takes(measure, tmp_path):
    consents = [{"serial": "SIM-LYING-STICK", "until": "9999-12-31", "destroy_data": True}]
    for name in ("check", "surface", "access", "geometry", "sizes", "ping", "sustain", "valleys", "verify", "commit"):
        one = job(
            measure, tmp_path, device="sim:lying-stick", serial="SIM-LYING-STICK", consents=consents,
            experiment=name, write=name in ("sustain", "valleys", "verify", "commit"), options=["--time-limit=30s"],
        )  # fmt: skip
        told = measure.planned(one)
        assert told["state"] == "missing", (name, told)
        assert 0 < told["seconds"] <= told["seconds_max"] <= 40, (name, told)


def test_the_plan_of_a_run_is_that_of_the_program(measure, tmp_path):
    told = measure.plan(job(measure, tmp_path, experiment="ping", options=["--time-limit=30s"]))
    assert told == {"seconds": 30.0, "seconds_max": 30.0, "bytes_read": None, "bytes_written": 0}
    consents = [{"serial": "Z1", "until": "9999-12-31", "destroy_data": True}]
    unbounded = job(measure, tmp_path, experiment="sustain", write=True, consents=consents)
    assert measure.plan(unbounded)["seconds_max"] is None


def test_a_drive_that_another_play_measures_is_waited_for(measure, tmp_path):
    one = job(measure, tmp_path)
    with one.lock() as file:
        measure.fcntl.flock(file, measure.fcntl.LOCK_EX)
        assert measure.planned(one)["state"] == "running"
    assert measure.planned(one)["state"] == "missing"


def test_names_of_stores_are_harmless(measure, tmp_path):
    one = job(measure, tmp_path, serial="../../etc/x")
    assert Path(one.store(1)).resolve().parent == tmp_path / "store/initial"
    assert one.name != job(measure, tmp_path, serial="------etc-x").name
