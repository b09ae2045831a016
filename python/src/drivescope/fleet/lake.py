"""A lake: a folder or bucket of Parquet files, partitioned by date and drive model, that is only ever added to.

A file is called by the SHA-256 of its bytes, so the same rows are stored once and damage is seen. Compaction merges
the files of a partition; its log makes every stop in the middle harmless.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from . import schema

MARKER = "drivescope.fleet.json"
LOG = "_log"


class LakeError(Exception):
    """What could not be done with a lake, why, and what to do next."""


def model_key(model: str | None) -> str:
    """The folder name of a model: harmless letters and eight digits of its hash, whatever the drive calls itself."""
    text = model or ""
    letters = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40]
    return f"m-{letters}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Written:
    """What a write did: rows added, and rows that were there before."""

    added: int
    known: int


@dataclass(frozen=True)
class Lake:
    """A lake at a place that Arrow can reach."""

    filesystem: pafs.FileSystem
    root: str

    @classmethod
    def open(cls, place: str, create: bool = False) -> Lake:
        """Opens a folder, `file://…` or `s3://bucket/path` (with `?endpoint_override=…` for other servers)."""
        try:
            if "://" in place:
                filesystem, root = pafs.FileSystem.from_uri(place)
            else:
                filesystem, root = pafs.LocalFileSystem(), str(pafs.FileSystem.from_uri(_absolute(place))[1])
        except (pa.ArrowException, OSError, ValueError) as error:
            raise LakeError(f"cannot open lake {place}: {error}. Give a folder, file://… or s3://bucket/path.")
        lake = cls(filesystem, root.rstrip("/"))
        lake._check(create)
        return lake

    @property
    def is_local(self) -> bool:
        return isinstance(self.filesystem, pafs.LocalFileSystem)

    def _check(self, create: bool) -> None:
        path = f"{self.root}/{MARKER}"
        if self._exists(path):
            found = json.loads(self._read(path)).get("schema")
            if found != schema.NAME:
                raise LakeError(f"cannot use lake {self.root}: its schema is {found!r}, not {schema.NAME}.")
            return
        if not create:
            raise LakeError(
                f"cannot read lake {self.root}: no {MARKER} there. "
                "Write to it first: python -m drivescope.fleet push --lake LAKE"
            )
        self._write(path, json.dumps({"schema": schema.NAME}).encode())

    def write(self, rows: pa.Table, any_date: bool = False) -> Written:
        """Adds the rows that are not there yet, one file per date and model; with `any_date`, not there on any date."""
        rows = rows.cast(schema.RUNS)
        dates = pc.strftime(rows["started"], format="%Y-%m-%d").to_pylist()
        partitions: dict[str, list[int]] = {}
        for index, (date, model) in enumerate(zip(dates, rows["model"].to_pylist())):
            partitions.setdefault(self.partition(date, model), []).append(index)
        # Listed once: a lake has a folder for each date and model.
        files = self.files() if any_date and partitions else []
        known: dict[str, set[bytes]] = {}
        added = 0
        for partition, indices in sorted(partitions.items()):
            scope = PurePosixPath(partition).name if any_date else partition
            if scope not in known:
                known[scope] = self._keys([path for path in files if f"/{scope}/" in path] if any_date else self._files(partition))
            added += self._write_partition(partition, rows.take(indices), known[scope])
        return Written(added, rows.num_rows - added)

    def partition(self, date: str, model: str | None) -> str:
        return f"{self.root}/runs/date={date}/drive_model={model_key(model)}"

    def _keys(self, paths: list[str]) -> set[bytes]:
        return {key for path in paths for key in self._table(path, ["key"])["key"].to_pylist()}

    def _write_partition(self, partition: str, rows: pa.Table, known: set[bytes]) -> int:
        """Adds the rows whose keys are not known, and their keys to those that are."""
        new = []
        for index, key in enumerate(rows["key"].to_pylist()):
            if key not in known:
                known.add(key)
                new.append(index)
        if new:
            self.put(partition, rows if len(new) == rows.num_rows else rows.take(new))
        return len(new)

    def put(self, partition: str, rows: pa.Table) -> str:
        """Adds a file with these rows, unasked whether they are there already."""
        data = encode(rows)
        path = f"{partition}/{hashlib.sha256(data).hexdigest()}.parquet"
        if not self._exists(path):
            self._write(path, data)
        return path

    def files(self) -> list[str]:
        """All files that count, a compaction that stopped in the middle included."""
        return self._files(f"{self.root}/runs")

    def _files(self, folder: str) -> list[str]:
        logs = [json.loads(self._read(path)) for path in self._logs()]
        removed = {f"{self.root}/{path}" for log in logs for path in log["remove"]}
        found = [path for path in self._list(folder) if path.endswith(".parquet") and path not in removed]
        present = set(found)
        for log in logs:
            merged = f"{self.root}/{log['add']}"
            if merged not in present and self._exists(f"{merged}.merged") and merged.startswith(f"{folder}/"):
                found.append(f"{merged}.merged")
        return sorted(found)

    def compact(self) -> tuple[int, int]:
        """Merges the files of each partition into one. Returns the number of files before and after."""
        for log in self._logs():
            self._finish(log)
        files = self.files()
        partitions: dict[str, list[str]] = {}
        for path in files:
            partitions.setdefault(str(PurePosixPath(path).parent), []).append(path)
        for partition, members in partitions.items():
            if len(members) > 1:
                self._finish(self._begin(partition, members))
        return len(files), len(partitions)

    def _begin(self, partition: str, members: list[str]) -> str:
        """Writes the merged file under a name that readers skip, then the log, from which on it counts."""
        rows = pa.concat_tables([self._table(path) for path in members]).sort_by([("serial", "ascending"), ("started", "ascending")])
        keys = rows["key"].to_pylist()
        first = {key: index for index, key in reversed(list(enumerate(keys)))}
        data = encode(rows.take(sorted(first.values())))
        merged = f"{partition}/{hashlib.sha256(data).hexdigest()}.parquet"
        self._write(f"{merged}.merged", data)
        log = {"add": self._relative(merged), "remove": [self._relative(path) for path in members if path != merged]}
        path = f"{self.root}/{LOG}/{PurePosixPath(merged).stem}.json"
        self._write(path, json.dumps(log).encode())
        return path

    def _finish(self, log_path: str) -> None:
        log = json.loads(self._read(log_path))
        merged = f"{self.root}/{log['add']}"
        for path in log["remove"]:
            if self._exists(f"{self.root}/{path}"):
                self.filesystem.delete_file(f"{self.root}/{path}")
        if self._exists(f"{merged}.merged"):
            self.filesystem.move(f"{merged}.merged", merged)
        self.filesystem.delete_file(log_path)

    def verify(self) -> list[str]:
        """Files whose bytes are not those that their name promises."""
        return [
            self._relative(path)
            for path in self.files()
            if hashlib.sha256(self._read(path)).hexdigest() != PurePosixPath(path).name.split(".")[0]
        ]

    def _logs(self) -> list[str]:
        return [path for path in self._list(f"{self.root}/{LOG}") if path.endswith(".json")]

    def _relative(self, path: str) -> str:
        return path[len(self.root) + 1 :]

    def _table(self, path: str, columns: list[str] | None = None) -> pa.Table:
        try:
            # Threads that read ahead are still there when a short command ends, which then aborts (pyarrow 26: 32 of 40 times).
            file = io.BytesIO(self._read(path))
            return pq.read_table(file, columns=columns, partitioning=None, use_threads=False, pre_buffer=False)
        except pa.ArrowException as error:
            raise LakeError(f"cannot read {path}: {error}. `python -m drivescope.fleet verify` lists damaged files.")

    def _list(self, folder: str) -> list[str]:
        selector = pafs.FileSelector(folder, recursive=True, allow_not_found=True)
        return [info.path for info in self.filesystem.get_file_info(selector) if info.is_file]

    def _exists(self, path: str) -> bool:
        return bool(self.filesystem.get_file_info(path).type == pafs.FileType.File)

    def _read(self, path: str) -> bytes:
        with self.filesystem.open_input_stream(path) as stream:
            return bytes(stream.read())

    def _write(self, path: str, data: bytes) -> None:
        """Writes a file that others see whole or not at all: renamed into place in folders, one PUT in object stores."""
        if not self.is_local:
            with self.filesystem.open_output_stream(path) as stream:
                stream.write(data)
            return
        self.filesystem.create_dir(str(PurePosixPath(path).parent), recursive=True)
        with self.filesystem.open_output_stream(f"{path}.part") as stream:
            stream.write(data)
        self.filesystem.move(f"{path}.part", path)


def encode(rows: pa.Table) -> bytes:
    """The bytes of a Parquet file: the same for the same rows."""
    sink = io.BytesIO()
    pq.write_table(rows.cast(schema.RUNS), sink, compression="zstd", write_statistics=["serial", "started"])
    return sink.getvalue()


def _absolute(place: str) -> str:
    from pathlib import Path

    return Path(place).expanduser().absolute().as_uri()
