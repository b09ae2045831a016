"""A store of its own for each test, and one run that tests only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import drivescope
from drivescope import Run


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The default store is empty, so that no test sees or touches the user's runs."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    yield tmp_path / "drivescope"


@pytest.fixture(scope="session")
def zoned(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A check of a drive with two zones, as it was stored."""
    store = tmp_path_factory.mktemp("zoned")
    run = drivescope.sim.drive("zoned").measure(store=store, seed=1)
    return drivescope.load(run.id, store)
