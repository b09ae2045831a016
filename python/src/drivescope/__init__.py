"""drivescope measures a storage drive and concludes. This package reads its runs and starts its program.

>>> import drivescope                                              # doctest: +SKIP
>>> run = drivescope.measure("/dev/sdb", "check")                  # doctest: +SKIP
>>> run["read-rate-outer"].value, run["read-rate-outer"].interval  # doctest: +SKIP

:func:`runs` and :func:`load` need neither the program nor root: they read the store. :func:`measure`, :func:`compare` and
:mod:`drivescope.sim` start the program that the wheel brings. Values are in base units: bytes, seconds, bytes per second.
"""

from __future__ import annotations

from . import sim
from .comparing import Comparison, Difference, Figure, Value, compare
from .errors import DrivescopeError, ProgramFailed, ProgramNotFound, StoreError, TimedOut
from .findings import Evidence, Finding, Interval
from .measuring import Progress, measure
from .run import Run, load
from .store import RunListing, default_store, runs

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Difference",
    "DrivescopeError",
    "Evidence",
    "Figure",
    "Finding",
    "Interval",
    "ProgramFailed",
    "ProgramNotFound",
    "Progress",
    "Run",
    "RunListing",
    "StoreError",
    "TimedOut",
    "Value",
    "compare",
    "default_store",
    "load",
    "measure",
    "runs",
    "sim",
]
