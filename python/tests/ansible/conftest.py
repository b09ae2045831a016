"""The collection as Python modules, and a store of its own for each test."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

COLLECTION = Path(__file__).parents[3] / "packaging/ansible"
TOOLS = Path(sys.executable).parent


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
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection where Ansible looks for it: its playbooks name its roles by their full names."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [TOOLS / "ansible-galaxy", "collection", "install", str(COLLECTION), "-p", str(folder), "--offline"], check=True, capture_output=True
    )
    return folder / "ansible_collections/drivescope/fleet"
