"""A stored run: facts and findings at once, series when they are asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

from .errors import StoreError
from .findings import Finding
from .program import output_of
from .store import PathLike, find_run, read_document
from .tables import phase_table, read_batches, read_series

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Run:
    """A run of the store. Its tables are read from the run's folder when they are asked for."""

    id: str
    folder: Path
    #: RFC 3339, UTC; a virtual drive begins in 1970.
    started: str
    #: None for a run without an end.
    finished: Optional[str]
    #: ``complete``, ``interrupted`` or ``failed``.
    status: str
    #: Version of the program that measured.
    version: str
    #: Command that repeats the run.
    command: str
    seed: int
    #: The device under test: keys as in ``target`` of ``docs/reference/json.md``. Texts come from the drive: treat as untrusted.
    target: Mapping[str, Any]
    #: Host and engine, with warnings about the measurement.
    environment: Mapping[str, Any]
    findings: tuple[Finding, ...]
    #: The document as it is stored, ``drivescope.run/1``.
    document: Mapping[str, Any] = field(repr=False)

    @classmethod
    def from_document(cls, document: Mapping[str, Any], folder: Path) -> Run:
        """From a ``drivescope.run/1`` document, and the folder that has its series.

        Raises :class:`StoreError` when a key is missing.
        """
        try:
            run = document["run"]
            return cls(
                id=run["id"],
                folder=folder,
                started=run["started"],
                finished=run["finished"],
                status=run["status"],
                version=run["version"],
                command=run["command"],
                seed=run["seed"],
                target=document["target"],
                environment=document["environment"],
                findings=tuple(Finding.from_document(finding) for finding in document["findings"]),
                document=document,
            )
        except (KeyError, TypeError) as error:
            raise StoreError(f"cannot read the run in {folder}: its document lacks {error}.") from error

    def __getitem__(self, code: str) -> Finding:
        """The first finding with this code. Raises KeyError when the run has none: it was not measured."""
        for finding in self.findings:
            if finding.code == code:
                return finding
        raise KeyError(f"run {self.id} has no finding {code!r}: not measured. It has {', '.join(self.codes)}")

    def __contains__(self, code: str) -> bool:
        return code in self.codes

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the findings, each once, in the order of the page."""
        return tuple(dict.fromkeys(finding.code for finding in self.findings))

    @property
    def phase_names(self) -> tuple[str, ...]:
        """Names of the phases, in the order of the run."""
        return tuple(phase["name"] for phase in self.document["phases"])

    def phases(self) -> pyarrow.Table:
        """A row for each phase and operation: workload, throughput, latencies."""
        return phase_table(self.document["phases"])

    def intervals(self, columns: Optional[Sequence[str]] = None) -> pyarrow.Table:
        """A row for each interval of 40 ms and operation. ``columns`` limits what is read from disk.

        Raises :class:`StoreError`.
        """
        return self.series("intervals", columns)

    def series(self, name: str, columns: Optional[Sequence[str]] = None) -> pyarrow.Table:
        """A series of the run: ``intervals``, ``histograms``, ``errors``, ``telemetry`` or ``trace``.

        Raises :class:`StoreError` when the run has no such series, or when it is damaged.
        """
        return read_series(self.folder, name, columns)

    def batches(self, name: str, columns: Optional[Sequence[str]] = None) -> pyarrow.RecordBatchReader:
        """A series piece by piece, for a run that does not fit into memory. pandas, Polars and DuckDB read from it too.

        Raises :class:`StoreError` when the run has no such series, or when it is damaged.
        """
        return read_batches(self.folder, name, columns)

    def analysed_again(self, timeout: Optional[float] = 600.0) -> Run:
        """The same run with the findings of the installed program, which may know more than the one that measured.

        Needs the program; raises :class:`~drivescope.errors.DrivescopeError` when it fails.
        """
        store = self.folder.parent.parent
        text = output_of(["show", self.folder.name, "--store", str(store), "--json", "-"], timeout)
        return Run.from_document(json.loads(text), self.folder)


def load(run: PathLike, store: Optional[PathLike] = None) -> Run:
    """A run: by folder, by name, by the beginning of exactly one name, or ``last``.

    Reads the facts and the findings that were stored when the run ended, without the program. Raises
    :class:`StoreError` when there is no such run, or when its document cannot be read.
    """
    folder = find_run(run, store)
    return Run.from_document(read_document(folder), folder)
