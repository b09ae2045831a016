"""Published data become rows of a lake: files in the form of Backblaze and of Perseus, made here."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from drivescope.fleet import Lake, LakeError
from drivescope.fleet.answers import answer
from drivescope.fleet.commands import main
from drivescope.fleet.engine import Engine
from drivescope.fleet.public_data import backblaze, perseus

HEADER = (
    "date,serial_number,model,capacity_bytes,failure,datacenter,cluster_id,vault_id,pod_id,pod_slot_num,is_legacy_format,"
    "smart_1_normalized,smart_1_raw,smart_9_normalized,smart_9_raw,smart_194_raw,smart_197_raw"
)


def write_backblaze(folder: Path) -> list[Path]:
    """Forty days of three drives: Z1 fails on the tenth day, Z2 has pending sectors from the thirtieth on, Z3 is sound."""
    files = []
    for day in range(40):
        date = f"2026-{9 + day // 30:02}-{day % 30 + 1:02}"
        lines = [HEADER]
        if day < 10:
            lines.append(f"{date},Z1,ST12000NM0007,12000138625024,{int(day == 9)},sac0,0,1070,1,3,False,83,0,90,{1000 + 24 * day},31,0")
        lines.append(f"{date},Z2,ST12000NM0007,12000138625024,0,sac0,0,1070,1,4,False,83,0,90,{5000 + 24 * day},{31 + 256 * 20},{8 * (day >= 29)}")
        lines.append(f'{date},"<b>Z3",ST4000DM000,-1,0,,,,,,,,,,,,')
        files.append(folder / f"{date}.csv")
        files[-1].write_text("\n".join(lines) + "\n")
    return files


def all_rows(lake: Lake) -> list[dict]:
    rows = [row for path in lake.files() for row in pq.read_table(path, partitioning=None).to_pylist()]
    return sorted(rows, key=lambda row: (row["serial"], row["started"]))


def test_drive_statistics_of_backblaze(tmp_path: Path, capsys) -> None:
    files = [str(path) for path in write_backblaze(tmp_path)]
    place = str(tmp_path / "lake")
    assert main(["push", "--lake", place, "--backblaze", *files]) == 0
    assert main(["push", "--lake", place, "--backblaze", *files]) == 0
    assert capsys.readouterr().out == "90 runs added, 0 known\n0 runs added, 90 known\n"
    rows = all_rows(Lake.open(place))
    first = next(row for row in rows if row["serial"] == "Z2")
    assert (first["host"], first["rack"], first["slot"], first["capacity_bytes"]) == ("pod/0/1070/1", "vault/sac0/0/1070", 4, 12000138625024)
    assert (first["temperature_celsius"], first["power_on_hours"], first["health"]) == (31.0, 5000.0, "sound")
    assert [(finding["code"], finding["value"]) for finding in first["findings"]] == [("failed", 0.0), ("bad-blocks", 0.0)]
    unknown = next(row for row in rows if row["serial"] == "<b>Z3")
    assert (unknown["capacity_bytes"], unknown["host"], unknown["temperature_celsius"]) == (None, None, None)
    assert unknown["findings"][1]["unknown"] == "not reported"
    engine = Engine.open(Lake.open(place))
    failed = answer(engine, "survival", "failed").set_index("model")
    assert failed.loc["ST12000NM0007", ["drives", "with_events", "share_30"]].tolist() == [2, 1, 0.5]
    pending = answer(engine, "survival", "bad-blocks").set_index("model")
    assert pending.loc["ST12000NM0007", ["share_30"]].tolist() == [0.0] and pending.loc["ST4000DM000", "with_events"] == 0
    assert main(["outliers", "--lake", place]) == 1
    assert "no run of this lake has the finding read-rate-outer. Measure it: drivescope surface DRIVE" in capsys.readouterr().err


def test_a_quarter_of_backblaze_is_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "data_Q3_2026.zip", "w") as archive:
        for path in write_backblaze(tmp_path)[:2]:
            archive.write(path, f"data_Q3_2026/{path.name}")
        archive.writestr("__MACOSX/data_Q3_2026/._2026-09-01.csv", b"\0")
    assert [table.num_rows for table in backblaze([tmp_path / "data_Q3_2026.zip"])] == [3, 3]


@pytest.mark.parametrize(
    "text, why",
    [
        ("date,serial_number,model\n", "has no column capacity_bytes"),
        (HEADER + "\n2026-09-01,Z1,M,many,0,,,,,,,,,,,,\n", "invalid value 'many'"),
        (HEADER + "\n09/01/2026,Z1,M,1,0,,,,,,,,,,,,\n", "dates such as 2026-10-01"),
        (HEADER + "\n2026-09-01,Z1\n", "Expected 17 columns"),
    ],
)
def test_damaged_statistics_are_refused_with_the_reason(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "day.csv").write_text(text)
    with pytest.raises(LakeError, match=why):
        list(backblaze([tmp_path / "day.csv"]))


def write_perseus(folder: Path) -> None:
    """Two hosts with six drives each, three days: drive 4 of host-2 has twice the latency that its throughput explains."""
    draw = random.Random(1)
    for host in ("host-1", "host-2"):
        (folder / "cluster_A" / host).mkdir(parents=True)
        for day in range(1, 4):
            lines = ["ts,disk_id,throughput,latency"]
            for sample in range(120):
                for disk in range(6):
                    load = draw.uniform(0.1, 0.7)
                    slow = 2.0 if (host, disk) == ("host-2", 4) else 1.0
                    latency = 300 / (1 - load) * slow * draw.lognormvariate(0, 0.08)
                    lines.append(f"{1757030400 + 86400 * day + 15 * sample},{disk},{900 * load:.2f},{latency:.2f}")
            lines.append("1757030400,5,0,0")
            (folder / "cluster_A" / host / f"2025-09-{5 + day:02}.csv").write_text("\n".join(lines) + "\n")


def test_the_slow_drive_of_a_perseus_trace_is_found(tmp_path: Path, capsys) -> None:
    write_perseus(tmp_path / "perseus")
    place = str(tmp_path / "lake")
    assert main(["push", "--lake", place, "--perseus", str(tmp_path / "perseus")]) == 0
    assert main(["push", "--lake", place, "--perseus", str(tmp_path / "perseus")]) == 0
    assert capsys.readouterr().out == "36 runs added, 0 known\n0 runs added, 36 known\n"
    first = all_rows(Lake.open(place))[0]
    assert first["serial"] == "cluster_A/host-1/0" and len(first["windows"]) == 120
    assert [window["start_seconds"] for window in first["windows"][:2]] == [0.0, 15.0]
    engine = Engine.open(Lake.open(place))
    found = answer(engine, "fail-slow")
    assert found.loc[found["is_fail_slow"], "serial"].tolist() == ["cluster_A/host-2/4"]
    assert found["excess"].iloc[0] == pytest.approx(1.0, abs=0.1)
    for question in ("outliers", "drift", "effects", "batches", "survival", "rebuild", "smr", "counterfeits", "latency"):
        with pytest.raises(LakeError, match="cannot tell: no run of this lake has"):
            answer(engine, question)


def test_a_folder_without_traces_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="no CLUSTER/HOST/YYYY-MM-DD.csv below it"):
        list(perseus(tmp_path))
