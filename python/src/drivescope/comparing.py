"""Comparing runs: differences that hold after correction for everything that was compared."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Union

from .findings import Interval
from .program import output_of
from .run import Run
from .store import PathLike, folder_of


@dataclass(frozen=True)
class Value:
    """What one run found."""

    #: None when the run is inconclusive or did not measure it.
    value: Union[float, str, None]
    interval: Optional[Interval]


@dataclass(frozen=True)
class Difference:
    """One figure in two runs, given as their indices in the order of the comparison."""

    first: int
    second: int
    #: The second over the first, if both are numbers.
    ratio: Optional[float]
    interval: Optional[Interval]
    #: Probability of such a difference between equal drives, corrected for everything that was compared.
    probability: Optional[float]
    significant: bool


@dataclass(frozen=True)
class Figure:
    """One finding in all runs that were compared."""

    code: str
    unit: Optional[str]
    #: In the order of the runs.
    values: tuple[Value, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Comparison:
    """Runs side by side."""

    #: Names of the runs.
    runs: tuple[str, ...]
    #: What limits the comparison, such as other conditions of the host.
    caveats: tuple[Any, ...]
    figures: tuple[Figure, ...]
    #: The document, ``drivescope.compare/1``: it also has ``changes``, regions of a drive that became slower.
    document: Mapping[str, Any] = field(repr=False)

    def __getitem__(self, code: str) -> Figure:
        for figure in self.figures:
            if figure.code == code:
                return figure
        raise KeyError(f"the comparison has no figure {code!r}")

    @property
    def significant(self) -> tuple[Figure, ...]:
        """Figures with at least one difference that is no chance."""
        return tuple(figure for figure in self.figures if any(pair.significant for pair in figure.differences))


def compare(
    *runs: Union[Run, PathLike], store: Optional[PathLike] = None, timeout: Optional[float] = 600.0
) -> Comparison:
    """Compares two or more runs of one store; of one drive the earlier first. Needs the program, which analyses them.

    Raises ValueError for fewer than two runs, else :class:`ProgramNotFound`, :class:`ProgramFailed` or :class:`TimedOut`.
    """
    if len(runs) < 2:
        raise ValueError(f"cannot compare {len(runs)} runs: give two or more.")
    first = runs[0]
    if store is None and isinstance(first, Run):
        store = first.folder.parent.parent
    names = [run.folder.name if isinstance(run, Run) else str(run) for run in runs]
    text = output_of(["compare", *names, "--store", str(folder_of(store)), "--json", "-"], timeout)
    document = json.loads(text)
    return Comparison(
        runs=tuple(run["id"] for run in document["runs"]),
        caveats=tuple(document["caveats"]),
        figures=tuple(_figure(figure) for figure in document["figures"]),
        document=document,
    )


def _figure(document: Mapping[str, Any]) -> Figure:
    values = tuple(Value((value or {}).get("value"), _interval(value)) for value in document["values"])
    differences = tuple(_difference(difference) for difference in document["differences"])
    return Figure(document["code"], document.get("unit"), values, differences)


def _difference(document: Mapping[str, Any]) -> Difference:
    ratio = document.get("ratio") or {}
    return Difference(
        first=document["first"],
        second=document["second"],
        ratio=ratio.get("value"),
        interval=_interval(ratio),
        probability=document.get("probability"),
        significant=document["significant"],
    )


def _interval(document: Optional[Mapping[str, Any]]) -> Optional[Interval]:
    if not document or document.get("confidence") is None:
        return None
    return Interval(document.get("low"), document.get("high"), document["confidence"])
