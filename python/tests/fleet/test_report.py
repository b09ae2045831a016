"""The page of a fleet: texts of drives and hosts cannot become markup, places cannot stretch it, links lead where they should."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from drivescope.fleet import LakeError
from drivescope.fleet.report import _check_link, _evidence_text, _map, _outliers, _own_report, _sound_cells

TEXT = "<script>alert(1)</script>\"'&"
ROW = {
    "serial": TEXT, "model": TEXT, "firmware": TEXT, "host": TEXT, "rack": TEXT, "enclosure": TEXT,
    "slot": 3.0, "slower": 0.2, "cause": TEXT, "n_recent": 28.0, "z": -9.0, "q": 1e-12, "is_outlier": True,
}


def test_hostile_texts_are_escaped() -> None:
    rows = pd.DataFrame([ROW])
    evidence = pd.DataFrame({"run": [TEXT], "kind": ["step"], "change": [-0.2], "day": [pd.Timestamp("2026-09-01")]}, index=[TEXT])
    page = _outliers(rows, 1, evidence, "https://{host}/{run}") + _outliers(rows, 1, evidence, None) + _map(rows, {TEXT})
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;" in page
    assert "20.0 %" in page and "28 runs in 28 days, z -9.0, q &lt; 1e-9; step of -20.0 % on 2026-09-01" in page
    assert page.count('href="#drive-%3Cscript%3Ealert%281%29%3C%2Fscript%3E%22%27%26"') == 1


def test_a_slot_number_cannot_stretch_the_map() -> None:
    rows = pd.DataFrame([{**ROW, "slot": 0.0, "is_outlier": False}, {**ROW, "slot": 2147483647.0}])
    assert 'viewBox="0 0 37 ' in _map(rows, set())


def test_neighbours_on_the_map_are_relative() -> None:
    # Three slots of a line, a gap where an outlier is, one more slot, and a line below.
    assert _sound_cells(np.array([4.0, 0, 8, 16, 0]), np.array([7.0, 7, 7, 7, 11])) == "M0 7h3v3h-3zm4 0h3v3h-3zm4 0h3v3h-3zM16 7h3v3h-3zM0 11h3v3h-3z"
    assert _sound_cells(np.array([]), np.array([])) == ""


def test_a_link_is_made_of_an_address_only() -> None:
    row = {"host": "host 1/../x", "serial": "S", "n_recent": 3.0, "z": -4.0, "q": 0.01}
    assert 'href="https://host%201%2F..%2Fx/run-1.html"' in _own_report(row, "run-1", "https://{host}/{run}.html")
    assert _own_report(row, "run-1", None) == "<code>drivescope report run-1</code>"
    assert _evidence_text(row, {}) == "3 runs in 28 days, z -4.0, q 0.01"
    for link in ("javascript:alert(1)", "https://{run.x}", "https://{0}", "https://{host", "{run}"):
        with pytest.raises(LakeError, match="cannot link to"):
            _check_link(link)
