"""Fetches the finished runs of a host into its folder of the spool. Nothing that the host says is taken on trust."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import zlib
from pathlib import Path

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

# As `drivescope.fleet` reads them: a document has 64 MiB at most, a series 512.
BYTES_MAX = {"run.json": 64 * 2**20, "checksums.txt": 64 * 2**20, "histograms": 512 * 2**20}
FILES_MAX = 100_000
# Bytes that one call to the host returns.
CALL_BYTES = 8 * 2**20
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}"
PATH = re.compile(rf"{NAME}/{NAME}/runs/{NAME}/(run\.json|checksums\.txt|(histograms)-[0-9]{{6}}\.parquet)")
SHA256 = re.compile(r"[0-9a-f]{64}")


class ActionModule(ActionBase):
    """The action `drivescope.fleet.fetch`."""

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        store, spool = self._task.args["store"], Path(self._task.args["spool"])
        host = task_vars["inventory_hostname"]
        if not re.fullmatch(NAME, host):
            raise AnsibleActionFail(f"cannot make a folder for host {host!r}: give it a name of letters, digits, dots and dashes.")
        told = self._call({"store": store}, task_vars)
        if told.get("failed") or told.get("unreachable"):
            return told
        missing = [file for file in checked(told.get("files"), host) if not (spool / host / file["path"]).exists()]
        result.update(changed=bool(missing), files=len(missing), bytes=sum(file["bytes"] for file in missing))
        if self._task.check_mode:
            return result
        for batch in batches(missing):
            failed = self._fetch(batch, store, spool / host, task_vars)
            if failed:
                return failed
        return result

    def _fetch(self, batch, store, folder, task_vars):
        """Fetches files that fit into one call, or one file in several; returns the answer of a call that failed."""
        for file in batch:
            (folder / file["path"]).parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        waiting = batch
        while waiting:
            parts = [begin(file, folder) for file in waiting]
            told = self._call({"store": store, "read": parts}, task_vars)
            if told.get("failed") or told.get("unreachable"):
                return told
            texts = told.get("parts")
            if not isinstance(texts, list) or len(texts) != len(parts):
                raise AnsibleActionFail("the host returned other parts than it was asked for.")
            for part, text in zip(parts, texts):
                append(folder / f"{part['path']}.part", inflated(text, part["length"]))
            waiting = [file for file in waiting if not finish(file, folder)]
        return None

    def _call(self, arguments, task_vars):
        return self._execute_module(module_name="drivescope.fleet.runs", module_args=arguments, task_vars=task_vars)


def checked(files, host):
    """The list of a host, if all of it is what the program writes."""
    if not isinstance(files, list) or len(files) > FILES_MAX:
        raise AnsibleActionFail(f"{host} lists more than {FILES_MAX} files, or no list.")
    for file in files:
        path, size, digest = file.get("path"), file.get("bytes"), file.get("sha256")
        match = PATH.fullmatch(path) if isinstance(path, str) else None
        if not match:
            raise AnsibleActionFail(f"{host} lists a file that no run has: {path!r:.300}")
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= BYTES_MAX[match[2] or match[1]]:
            raise AnsibleActionFail(f"{host} lists {path} with {size!r:.40} bytes, more than the program writes.")
        if not isinstance(digest, str) or not SHA256.fullmatch(digest):
            raise AnsibleActionFail(f"{host} lists {path} without a SHA-256.")
    return files


def batches(files):
    """Files in their order, so many that they fit into one call; a large one is alone."""
    batch, size = [], 0
    for file in files:
        if batch and size + file["bytes"] > CALL_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file["bytes"]
    if batch:
        yield batch


def begin(file, folder):
    """The part of a file that comes next; what an earlier play left of it is kept."""
    part = folder / f"{file['path']}.part"
    have = part.stat().st_size if part.exists() else 0
    if have > file["bytes"]:
        part.unlink()
        have = 0
    return {"path": file["path"], "offset": have, "length": min(file["bytes"] - have, CALL_BYTES)}


def inflated(text, length):
    """A part as it was, with no more bytes than were asked for, whatever the host sent."""
    try:
        decoder = zlib.decompressobj()
        data = decoder.decompress(base64.b64decode(text, validate=True), length + 1)
    except (TypeError, ValueError, binascii.Error, zlib.error) as error:
        raise AnsibleActionFail(f"the host returned a part that is damaged: {error}") from error
    if len(data) != length:
        raise AnsibleActionFail(f"the host returned {len(data)} bytes or more where {length} were asked for.")
    return data


def append(path, data):
    with open(path, "ab") as file:
        file.write(data)


def finish(file, folder):
    """Renames a file that is whole and as its SHA-256 says; False while more of it is to come."""
    path, part = folder / file["path"], folder / f"{file['path']}.part"
    if part.stat().st_size < file["bytes"]:
        return False
    digest = hashlib.sha256()
    with open(part, "rb") as opened:
        for block in iter(lambda: opened.read(1 << 20), b""):
            digest.update(block)
    if digest.hexdigest() != file["sha256"]:
        part.unlink()
        raise AnsibleActionFail(f"{file['path']} is not as its SHA-256 says. It was deleted; play again.")
    with open(part, "rb") as opened:
        os.fsync(opened.fileno())
    os.replace(part, path)
    return True
