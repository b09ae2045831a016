"""The page of a fleet: texts of drives and hosts cannot become markup, places cannot stretch it, links lead where they should."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup

from drivescope.fleet import LakeError
from drivescope.fleet.report import OwnReport, _bars, _evidence_text, _map, _outliers, _sparkline, _verdict

TEXT = "<script>alert(1)</script>\"'&"
ROW = {
    "serial": TEXT, "model": TEXT, "firmware": TEXT, "host": TEXT, "rack": TEXT, "enclosure": TEXT,
    "slot": 3.0, "slower": 0.2, "cause": TEXT, "n_recent": 28.0, "z": -9.0, "q": 1e-12, "is_outlier": True,
}


def test_hostile_texts_are_escaped() -> None:
    rows = pd.DataFrame([ROW])
    evidence = pd.DataFrame({"run": [TEXT], "kind": ["step"], "change": [-0.2], "day": [pd.Timestamp("2026-09-01")]}, index=[TEXT])
    page = _outliers(rows, 1, evidence, OwnReport("https://{host}/{run}")) + _outliers(rows, 1, evidence, OwnReport()) + _map(rows, {TEXT})
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;" in page
    assert "20.0 %" in page and "28 runs in 28 days, z -9.0, q &lt; 1e-9; step of -20.0 % on 2026-09-01" in page
    assert page.count('href="#drive-%3Cscript%3Ealert%281%29%3C%2Fscript%3E%22%27%26"') == 1


def test_a_drive_of_one_day_has_a_mark() -> None:
    day = pd.Timestamp("2026-11-26")
    assert '<polyline points="1,26.0 5,26.0"/>' in _sparkline(pd.DataFrame({"date": [day], "ratio": [0.85]}), (day, day))


def test_a_slot_number_cannot_stretch_the_map() -> None:
    rows = pd.DataFrame([{**ROW, "slot": 0.0, "is_outlier": False}, {**ROW, "slot": 2147483647.0}])
    # Two slots are narrower than the name of a rack, 30 and a gap of 7, to the next multiple of a cell.
    assert 'viewBox="0 0 40 ' in _map(rows, set())


def test_neighbours_on_the_map_are_one_bar() -> None:
    # Three slots of a line, one of them twice, a gap where an outlier is, one more slot, and a line below.
    assert _bars(np.array([4.0, 0, 8, 16, 0, 4]), np.array([7.0, 7, 7, 7, 11, 7])) == "M0 7h11v3h-11zM16 7h3v3h-3zM0 11h3v3h-3z"
    assert _bars(np.array([]), np.array([])) == ""


def test_a_failing_drive_is_on_the_map_and_leads_to_its_row() -> None:
    failing = {**ROW, "serial": "S", "cause": "failing", "is_outlier": False, "evidence": "1 unreadable region", "slower": np.nan}
    # It is slow, too: the cell of what fails is drawn last.
    page = _map(pd.DataFrame([{**ROW, "serial": "S"}, failing]), {"S"})
    assert page.index('<a href="#drive-S">') < page.index('<a href="#failing-S"><rect class="failing"')
    assert f"<title>S, {Markup.escape(TEXT)}, slot 3: 1 unreadable region</title>" in page


@pytest.mark.parametrize(
    "failing, slow, compared, text",
    [
        (0, 1, 40, "1 of 40 drives is slower than its equals"),
        (1, 27, 1_000, "1 drive fails, 27 of 1,000 drives are slower than their equals"),
        (2, 0, 1, "2 drives fail, 0 of 1 drive is slower than its equals"),
        (3, 0, 0, "3 drives fail, no drive compared: fewer than 5 runs each"),
        (0, 0, 0, "No drive compared: fewer than 5 runs each"),
    ],
)
def test_the_heading_counts_in_english(failing: int, slow: int, compared: int, text: str) -> None:
    assert _verdict(failing, slow, compared) == text


def test_a_link_is_made_of_an_address_only() -> None:
    row = {"host": "host 1/../x", "serial": "S", "n_recent": 3.0, "z": -4.0, "q": 0.01}
    assert 'href="https://host%201%2F..%2Fx/run-1.html"' in OwnReport("https://{host}/{run}.html").of(row, "run-1")
    assert _evidence_text(row, {}) == "3 runs in 28 days, z -4.0, q 0.01"
    for link in ("javascript:alert(1)", "https://{run.x}", "https://{0}", "https://{host", "{run}"):
        with pytest.raises(LakeError, match="cannot link to"):
            OwnReport(link)


def test_the_command_of_a_report_names_the_store() -> None:
    row = {"host": "host-1", "serial": "S"}
    assert OwnReport().of(row, "run-1") == "<code>drivescope report run-1</code>"
    spool = OwnReport(store="~/spool/{host}/*/*/runs/{run}/../..")
    assert spool.of(row, "run-1") == "<code>drivescope report run-1 --store ~/spool/host-1/*/*/runs/run-1/../..</code>"
    # What a host calls itself and its runs is no command.
    told = spool.of({"host": "$(reboot)", "serial": "S"}, "x; reboot")
    assert told.unescape() == "<code>drivescope report 'x; reboot' --store ~/spool/'$(reboot)'/*/*/runs/'x; reboot'/../..</code>"
    with pytest.raises(LakeError, match="cannot use store .*only {host}, {run} are known"):
        OwnReport(store="{serial}")
