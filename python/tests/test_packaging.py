"""What packages bring for Grafana and Prometheus asks for gauges that the program writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from drivescope import Run
from drivescope.program import output_of

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
GAUGE = re.compile(r"\bdrivescope_[a-z0-9_]+")


@pytest.fixture(scope="module")
def gauges(zoned: Run) -> set[str]:
    """Of a virtual drive, and the two that its run does not write: it has no date, and nothing of it is inconclusive."""
    store = str(zoned.folder.parent.parent)
    text = output_of(["export", "--all", "--store", store, "--format", "openmetrics", "-o", "-"])
    other = {"drivescope_run_started_timestamp_seconds", "drivescope_finding_unknown"}
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")} | other


def test_the_alerts_ask_for_gauges_that_there_are(gauges: set[str]) -> None:
    text = (PACKAGING / "prometheus" / "drivescope.rules.yml").read_text(encoding="utf-8")
    asked = {gauge for line in text.splitlines() if "expr:" in line for gauge in GAUGE.findall(line)}
    assert len(asked) == 3 and asked <= gauges


def test_the_dashboard_asks_for_gauges_that_there_are(gauges: set[str]) -> None:
    dashboard = json.loads((PACKAGING / "grafana" / "drivescope.json").read_text(encoding="utf-8"))
    asked = {gauge for panel in dashboard["panels"] for part in panel["targets"] for gauge in GAUGE.findall(part["expr"])}
    assert len(asked) > 8 and asked <= gauges


def test_the_dashboard_has_what_grafana_asks_of_one() -> None:
    """Keys of Grafana's dashboard schema, version 39, whose absence it refuses or silently repairs."""
    dashboard = json.loads((PACKAGING / "grafana" / "drivescope.json").read_text(encoding="utf-8"))
    assert dashboard["schemaVersion"] == 39 and dashboard["title"] and dashboard["uid"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        assert panel["type"] in {"stat", "timeseries", "table"} and panel["title"] and panel["fieldConfig"]["defaults"]["unit"]
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
        assert [part["refId"] for part in panel["targets"]] == list("ABC"[: len(panel["targets"])])
