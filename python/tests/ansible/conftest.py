"""The collection as Python modules, and a store of its own for each test."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

COLLECTION = Path(__file__).parents[3] / "packaging/ansible"


def plugin(kind: str, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{kind}_{name}", COLLECTION / "plugins" / kind / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def measure() -> ModuleType:
    return plugin("modules", "measure")


@pytest.fixture(scope="session")
def runs() -> ModuleType:
    return plugin("modules", "runs")


@pytest.fixture(scope="session")
def fetch() -> ModuleType:
    return plugin("action", "fetch")


@pytest.fixture(scope="session")
def rounds() -> ModuleType:
    return plugin("filter", "rounds")
