"""The store: a folder of runs, read without the program.

``STORE/runs/RUN/run.json`` has the facts of a run, ``STORE/index.sqlite`` a list of them. The index may be missing or
behind the folders, and it is only read here: a run whose row is not up to date is read from its folder.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from .errors import StoreError

PathLike = Union[str, "os.PathLike[str]"]

#: The schema of the document that is read. Later versions of it only add keys.
RUN_SCHEMA = "drivescope.run/1"
#: Layout of ``index.sqlite`` that is read; another is passed over.
_INDEX_VERSION = 2
_RUN_FILE = "run.json"


@dataclass(frozen=True)
class RunListing:
    """A stored run, as a list of runs has it."""

    id: str
    folder: Path
    #: RFC 3339, UTC; a virtual drive begins in 1970. None when the run cannot be read.
    started: Optional[str]
    #: ``complete``, ``interrupted`` or ``failed``; a run that is under way is ``interrupted``.
    status: Optional[str]
    #: The target as typed: ``/dev/sdb``, ``sim:zoned``.
    path: Optional[str]
    #: As the drive reports it; treat as untrusted.
    model: Optional[str]
    serial: Optional[str]
    experiments: tuple[str, ...]
    #: Why the run cannot be read.
    damage: Optional[str] = None


def default_store() -> Path:
    """``$XDG_DATA_HOME/drivescope``, else ``~/.local/share/drivescope``: where the program keeps runs."""
    # A relative path counts as none, as the XDG base directory specification asks.
    data_home = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(data_home):
        return Path(data_home) / "drivescope"
    return Path.home() / ".local" / "share" / "drivescope"


def folder_of(store: Optional[PathLike]) -> Path:
    """The store that is meant: the given one, or the default."""
    return default_store() if store is None else Path(store)


def runs(store: Optional[PathLike] = None) -> list[RunListing]:
    """All runs of a store, newest first; empty when there is no store yet.

    Raises :class:`StoreError` when the folder may not be read.
    """
    folder = folder_of(store)
    try:
        entries = [entry for entry in os.scandir(folder / "runs") if _is_run(entry)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"cannot read the store {folder}: {error.strerror}. Check its permissions.") from error
    indexed = _indexed(folder)
    listed = [_listing(Path(entry.path), indexed) for entry in entries]
    listed.sort(key=lambda pair: pair[0], reverse=True)
    return [listing for _, listing in listed]


def find_run(run: PathLike, store: Optional[PathLike] = None) -> Path:
    """The folder of a run: a folder, a name, the beginning of exactly one name, or ``last``.

    Raises :class:`StoreError` when there is none, or more than one.
    """
    named = Path(run)
    if (named / _RUN_FILE).is_file() and (named.is_absolute() or len(named.parts) > 1):
        return named
    name = os.fspath(run)
    folder = folder_of(store)
    if (folder / "runs" / name / _RUN_FILE).is_file() and len(named.parts) == 1:
        return folder / "runs" / name
    listed = runs(store)
    if name == "last":
        if listed:
            return listed[0].folder
        raise StoreError(f"cannot load the last run: {folder} has none. Measure with 'drivescope check'.")
    matching = [listing.folder for listing in listed if listing.id.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(sorted(match.name for match in matching[:5]))
        raise StoreError(f"cannot load run {name!r}: {len(matching)} names begin so ({names}). Give more of the name.")
    raise StoreError(f"cannot load run {name!r}: no run in {folder} is called so. drivescope.runs() lists them.")


def read_document(folder: Path) -> dict[str, Any]:
    """The facts of a run: its ``drivescope.run/1`` document.

    Raises :class:`StoreError` when the file is missing, damaged, or of a later schema.
    """
    path = folder / _RUN_FILE
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}. If it was a run, restore the file from a copy.") from error
    except ValueError as error:
        raise StoreError(f"cannot read {path}: it is damaged ({error}). Restore the file from a copy.") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != RUN_SCHEMA:
        raise StoreError(
            f"cannot read {path}: its schema is {schema!r}, and this version reads {RUN_SCHEMA}. Update drivescope."
        )
    return dict(document)


def _is_run(entry: os.DirEntry[str]) -> bool:
    # Names that begin with a dot are runs that another process is about to begin.
    return not entry.name.startswith(".") and entry.is_dir()


_Stamp = tuple[int, int, int]


def _listing(folder: Path, indexed: dict[str, tuple[_Stamp, RunListing]]) -> tuple[int, RunListing]:
    """When its facts were last written, and the run: a virtual drive has a time of its own, which does not sort."""
    try:
        file = (folder / _RUN_FILE).stat()
        stamp = (file.st_ino, file.st_mtime_ns, file.st_size)
        known = indexed.get(folder.name)
        if known is not None and known[0] == stamp:
            return file.st_mtime_ns, known[1]
        return file.st_mtime_ns, _listing_of(folder, read_document(folder))
    except (OSError, StoreError, KeyError, TypeError) as error:
        damage = str(error) if isinstance(error, StoreError) else f"cannot read {folder / _RUN_FILE}: {error}"
        return 0, RunListing(folder.name, folder, None, None, None, None, None, (), damage)


def _listing_of(folder: Path, document: dict[str, Any]) -> RunListing:
    run, target = document["run"], document["target"]
    experiments = dict.fromkeys(phase["experiment"] for phase in document["phases"])
    status = run["status"] if run["finished"] is not None else "interrupted"
    return RunListing(
        id=folder.name,
        folder=folder,
        started=run["started"],
        status=status,
        path=target["path"],
        model=target["model"],
        serial=target["serial"],
        experiments=tuple(experiments),
    )


def _indexed(folder: Path) -> dict[str, tuple[_Stamp, RunListing]]:
    """Rows of the index by run, with the state of the file that each was made from. None of an index that cannot be used."""
    path = folder / "index.sqlite"
    if not path.is_file():
        return {}
    columns = "facts_inode, facts_modified_ns, facts_bytes, id, started, is_finished, status, path, model, serial, experiments"
    found: dict[str, tuple[_Stamp, RunListing]] = {}
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as index:
            if index.execute("PRAGMA user_version").fetchone()[0] != _INDEX_VERSION:
                return {}
            for row in index.execute(f"SELECT {columns} FROM runs"):
                status = row[6] if row[5] else "interrupted"
                listing = RunListing(
                    row[3], folder / "runs" / row[3], row[4], status, row[7], row[8], row[9], tuple(json.loads(row[10]))
                )
                found[row[3]] = ((row[0], row[1], row[2]), listing)
    except (sqlite3.Error, ValueError, TypeError):
        # The run folders are the truth: without the index the list is only slower.
        return {}
    return found
