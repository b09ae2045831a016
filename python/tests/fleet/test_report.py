"""Texts of drives and hosts cannot become markup on the page of a fleet."""

from __future__ import annotations

import pandas as pd

from drivescope.fleet.report import _map, _outliers


def test_hostile_texts_are_escaped():
    text = "<script>alert(1)</script>\"'&"
    rows = pd.DataFrame(
        {
            "serial": [text], "model": [text], "firmware": [text], "host": [text], "rack": [text], "enclosure": [text],
            "slot": [3.0], "slower": [0.2], "cause": [text], "n_recent": [28.0], "z": [-9.0], "q": [1e-9], "is_outlier": [True],
        }
    )
    page = _outliers(rows) + _map(rows)
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;" in page
    assert "20.00%" in page and "28 runs in 28 days, z = -9.0, q = 1e-09" in page
