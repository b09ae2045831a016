"""What starts the program: measuring, comparing, virtual drives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import drivescope
from drivescope import ProgramFailed, ProgramNotFound, Progress, TimedOut


def test_measuring_tells_its_progress_and_keeps_the_run(own_store: Path) -> None:
    told: list[Progress] = []
    run = drivescope.measure("sim:zoned", "check", progress=told.append, seed=1)
    assert [progress.share for progress in told] == sorted(progress.share for progress in told)
    assert told and "phase" in told[0].text
    assert run.folder == own_store / "runs" / "sim-zoned-check-6d485659"
    assert drivescope.load("last").findings == run.findings
    assert run.analysed_again().findings == run.findings


def test_options_reach_the_program() -> None:
    run = drivescope.measure("sim:zoned", "surface", seed=7, time_limit="10s", range="10%..20%")
    assert run.seed == 7
    assert "--time-limit 10s" in run.command and "--range" in run.command


def test_a_write_without_consent_is_refused() -> None:
    with pytest.raises(ProgramFailed) as caught:
        drivescope.measure("sim:zoned", "sustain")
    assert caught.value.exit_code != 0 and "--write" in caught.value.message


def test_a_target_that_is_not_there_gives_the_reason_of_the_program() -> None:
    with pytest.raises(ProgramFailed, match="No such file or directory") as caught:
        drivescope.measure("nosuch")
    assert caught.value.exit_code == 1


def test_a_run_past_its_time_limit_is_stopped(tmp_path: Path) -> None:
    file = tmp_path / "drive.img"
    file.write_bytes(os.urandom(1 << 20) * 16)
    with pytest.raises(TimedOut, match="kept as interrupted"):
        drivescope.measure(file, "check", time_limit="60s", timeout=2.0)
    (listing,) = drivescope.runs()
    assert listing.status == "interrupted"


def test_an_error_while_progress_is_told_ends_the_program() -> None:
    def fail(_: Progress) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        drivescope.measure("sim:zoned", "check", progress=fail, seed=1)


def test_two_drives_differ_where_they_do_and_not_where_they_do_not(tmp_path: Path) -> None:
    zoned, other = drivescope.sim.drive("zoned"), drivescope.sim.drive("st3000dm001")
    first, second = zoned.measure(store=tmp_path), zoned.measure(store=tmp_path, seed=2)
    same = drivescope.compare(first, second)
    assert same.runs == (first.id, second.id)
    assert same.significant == ()
    differing = drivescope.compare(first, other.measure(store=tmp_path))
    (pair,) = differing["read-rate-outer"].differences
    assert pair.significant and pair.ratio is not None
    assert pair.ratio == pytest.approx(204.7 / 150, rel=0.02)
    with pytest.raises(ValueError, match="two or more"):
        drivescope.compare(first)


def test_a_virtual_drive_is_measured_to_its_truth() -> None:
    drive = drivescope.sim.drive("zoned")
    truth = drive.truth()["read-rate-outer"]
    assert (truth.value, truth.unit, truth.absent) == (150e6, "B/s", False)
    interval = drive.measure()["read-rate-outer"].interval
    assert interval is not None and isinstance(truth.value, float) and truth.value in interval
    assert drive.measure().document == drive.measure().document
    assert "zoned" in [row.name for row in drivescope.sim.drives()]


def test_a_profile_becomes_a_drive_and_a_wrong_one_says_where(tmp_path: Path) -> None:
    from drivescope.program import output_of

    made = drivescope.sim.make(tmp_path / "my.toml", output_of(["sim", "show", "zoned"]))
    assert made.measure()["read-rate-outer"].is_known
    with pytest.raises(ProgramFailed, match="nosuch"):
        drivescope.sim.make(tmp_path / "wrong.toml", "nosuch = 1\n")


def test_a_program_that_is_not_there_is_no_riddle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DRIVESCOPE_PROGRAM", "/nonexistent")
    with pytest.raises(ProgramNotFound, match="Correct or unset it"):
        drivescope.sim.drives()
    foreign = tmp_path / "drivescope"
    foreign.write_bytes(b"\x7fELF of another machine")
    foreign.chmod(0o755)
    monkeypatch.setenv("DRIVESCOPE_PROGRAM", str(foreign))
    with pytest.raises(ProgramFailed, match="another architecture"):
        drivescope.sim.drives()
    with pytest.raises(ProgramFailed, match="another architecture"):
        drivescope.measure("sim:constant", "ping", store=tmp_path)
