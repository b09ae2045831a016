"""The metrics of a fleet are OpenMetrics, and its dashboard asks for metrics that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from runs_by_hand import make_run
from drivescope.fleet import Lake
from drivescope.fleet.commands import main
from drivescope.fleet.engine import Engine
from drivescope.fleet.metrics import MODELS_MAX, _count, metrics
from drivescope.fleet.questions.outliers import outliers

DASHBOARD = Path(__file__).resolve().parents[3] / "packaging/grafana/fleet.json"


def samples(text: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Each family with its values by label values."""
    families = text_string_to_metric_families(text)
    return {family.name: {tuple(sample.labels.values()): sample.value for sample in family.samples} for family in families}


def test_all_answers_are_metrics(small_fleet, tmp_path, capsys):
    file = tmp_path / "drivescope-fleet.prom"
    assert main(["metrics", "--lake", small_fleet, "-o", str(file)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["drivescope-fleet.prom"]
    text = file.read_text(encoding="utf-8")
    found = samples(text)
    assert sum(found["drivescope_fleet_drives"].values()) == 600
    assert found["drivescope_fleet_runs"][("ST4000DM000",)] > 600
    listed = outliers(Engine.open(Lake.open(small_fleet)))
    assert sum(found["drivescope_fleet_slow_drives"].values()) == listed["is_outlier"].sum() >= 3
    assert sum(found["drivescope_fleet_failing_drives"].values()) == 2
    # Thirty days from 1 August 2026, 00:00 UTC on.
    last = max(found["drivescope_fleet_last_run_timestamp_seconds"].values())
    assert 1785542400 + 29 * 86400 <= last < 1785542400 + 30 * 86400
    assert set(found["drivescope_fleet_batches"]) == {("accept",), ("refuse",), ("inconclusive",)}
    assert 0.010 < found["drivescope_fleet_read_latency_seconds"][("ST4000DM000", "50")] < 0.020
    assert set(found["drivescope_fleet_question_answered"].values()) == {1.0}
    assert "quantile=" not in text
    asked = set(re.findall(r"drivescope_fleet_[a-z0-9_]+", DASHBOARD.read_text(encoding="utf-8")))
    assert len(asked) == 14 and asked == set(found)


def test_a_question_without_an_answer_is_no_zero(tmp_path):
    make_run(tmp_path / "store", "run-1", target={"model": 'a "model" \\ of\n two lines'})
    lake = str(tmp_path / "lake")
    assert main(["push", "--lake", lake, "--store", str(tmp_path / "store")]) == 0
    found = samples(metrics(Engine.open(Lake.open(lake))))
    assert found["drivescope_fleet_question_answered"][("counterfeits",)] == 0
    assert "drivescope_fleet_counterfeit_drives" not in found
    assert found["drivescope_fleet_drives"] == {('a "model" \\ of\\u{a} two lines',): 1.0}


def test_models_are_bounded():
    import pandas as pd

    names = pd.Series([f"M{number}" for number in range(1000)])
    counts = _count(names, names.head(MODELS_MAX).tolist())
    assert len(counts) == 101 and dict(counts)["other"] == 900


def test_the_dashboard_is_as_grafana_reads_it():
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    assert dashboard["schemaVersion"] == 39 and dashboard["title"] and dashboard["uid"] == "drivescope-fleet"
    assert [variable["name"] for variable in dashboard["templating"]["list"]] == ["datasource", "model"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"]) == 12
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        assert panel["type"] in {"stat", "timeseries", "table"} and panel["title"] and panel["fieldConfig"]["defaults"]["unit"]
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
        assert [part["refId"] for part in panel["targets"]] == list("ABC"[: len(panel["targets"])])
