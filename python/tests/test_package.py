"""The package itself: version, imports, types, documents."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import drivescope

ROOT = Path(__file__).resolve().parents[2]
#: Documents whose Python examples have to be true.
DOCUMENTS = ["README.md", "python/README.md"]


def test_the_version_is_that_of_the_program() -> None:
    from drivescope.program import output_of

    assert output_of(["--version"]).split()[1] == drivescope.__version__


def test_importing_takes_only_the_standard_library() -> None:
    # What makes it quick; packaging/check/limits.py measures how quick. Without `site` no other package is found.
    path = os.pathsep.join(str(Path(package).parent) for package in drivescope.__path__)
    told = subprocess.run(
        [sys.executable, "-S", "-c", "import drivescope, sys; print('pyarrow' in sys.modules, 'numpy' in sys.modules)"],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (told.stdout, told.stderr) == ("False False\n", "")


def test_every_public_name_is_documented() -> None:
    for name in drivescope.__all__:
        assert (getattr(drivescope, name).__doc__ or "").strip(), name


@pytest.mark.parametrize("document", DOCUMENTS)
def test_examples_in_documents_are_true(document: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    # A closing fence is no output.
    text = re.sub(r"^```.*$", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, document, document, 0)
    assert examples.examples, f"{document} has no example"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.DocTestRunner(optionflags=flags).run(examples).failed == 0
