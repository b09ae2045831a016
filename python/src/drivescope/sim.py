"""Virtual drives with known truth, for tests: measured in virtual time, so that minutes take milliseconds."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Union

from .measuring import OptionValue, Progress
from .measuring import measure as _measure
from .program import output_of
from .run import Run
from .store import PathLike


@dataclass(frozen=True)
class Truth:
    """What is true of a virtual drive."""

    code: str
    #: In the base unit ``unit``, or a word. None when ``absent``.
    value: Union[float, str, None]
    unit: Optional[str]
    #: The drive has nothing of this kind, so that a finding of it would be wrong.
    absent: bool
    data: Mapping[str, Any]


@dataclass(frozen=True)
class VirtualDrive:
    """A built-in virtual drive, or a profile in a TOML file."""

    #: A name of :func:`drives`, or the path of a profile.
    name: str

    @property
    def target(self) -> str:
        """What :func:`drivescope.measure` takes: ``sim:NAME``."""
        return f"sim:{self.name}"

    def measure(
        self,
        experiment: str = "check",
        *,
        store: Optional[PathLike] = None,
        seed: int = 1,
        progress: Optional[Callable[[Progress], None]] = None,
        timeout: Optional[float] = None,
        **options: OptionValue,
    ) -> Run:
        """Measures it. The same drive, options and seed give the same run, byte by byte.

        Without ``store`` the run is kept in a temporary folder for as long as this process lives, so that tests leave no trace.
        Raises as :func:`drivescope.measure` does.
        """
        kept = _temporary_store() if store is None else store
        return _measure(
            self.target, experiment, store=kept, progress=progress, timeout=timeout, seed=seed, **options
        )

    def truth(self) -> dict[str, Truth]:
        """What is true of it, by finding code, computed from its profile and never by running it."""
        document = json.loads(output_of(["sim", "truth", self.name, "--json"]))
        truths = {}
        for row in document["truths"]:
            truths[row["code"]] = Truth(row["code"], row["value"], row["unit"], row["absent"], row["data"])
        return truths


@dataclass(frozen=True)
class BuiltIn:
    """A row of the list of built-in virtual drives."""

    name: str
    kind: str
    capacity_bytes: int
    description: str


def drives() -> list[BuiltIn]:
    """The built-in virtual drives."""
    rows = json.loads(output_of(["sim", "list", "--json", "-"]))["drives"]
    return [BuiltIn(row["name"], row["kind"], row["capacity_bytes"], row["description"]) for row in rows]


def drive(name: str) -> VirtualDrive:
    """A built-in virtual drive by its name, or a profile (``my.toml``). Whether there is one shows when it is measured."""
    return VirtualDrive(name)


def make(profile: Union[str, PathLike], toml: str) -> VirtualDrive:
    """Writes a profile to the file ``profile`` and returns its drive; ``docs/reference/profiles.md`` has every key.

    Raises :class:`ProgramFailed` with line and column when the profile is wrong.
    """
    path = Path(profile).absolute()
    path.write_text(toml, encoding="utf-8")
    output_of(["sim", "show", str(path)])
    return VirtualDrive(str(path))


_temporary: Optional[tempfile.TemporaryDirectory[str]] = None


def _temporary_store() -> Path:
    global _temporary
    if _temporary is None:
        _temporary = tempfile.TemporaryDirectory(prefix="drivescope-")
    return Path(_temporary.name)
