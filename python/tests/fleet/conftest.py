"""Fleets that tests only read, simulated once."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivescope.fleet.simulate import simulate


@pytest.fixture(scope="session")
def small_fleet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A lake of 600 drives and 30 days, with a slower firmware, a few slow drives and two that fail."""
    folder: Path = tmp_path_factory.mktemp("small")
    simulate(str(folder / "lake"), 600, 30, 3, folder / "truth.parquet")
    return str(folder / "lake")
