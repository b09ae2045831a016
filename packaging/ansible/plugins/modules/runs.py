#!/usr/bin/python
"""Lists the finished runs of a host, and reads parts of their files, so that a transfer can go on where it stopped."""

from __future__ import annotations

import base64
import glob
import hashlib
import json
import os
import zlib

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
---
module: runs
short_description: Lists finished runs of drivescope, and reads parts of their files
description:
  - Changes nothing. The action C(drivescope.fleet.fetch) calls it.
version_added: 0.1.0
author: drivescope (@drivescope)
options:
  store:
    description: Folder of the runs, as given to C(drivescope.fleet.measure).
    type: path
    required: true
  read:
    description: Parts of files to return; without it the runs are listed.
    type: list
    elements: dict
    options:
      path:
        description: Path below the store.
        type: str
        required: true
      offset:
        description: First byte.
        type: int
        required: true
      length:
        description: Number of bytes.
        type: int
        required: true
attributes:
  check_mode:
    description: Changes nothing in any mode.
    support: full
  diff_mode:
    description: Has no text to compare.
    support: none
"""

EXAMPLES = r"""
- name: List the runs of a host
  drivescope.fleet.runs:
    store: /var/lib/drivescope/fleet
"""

RETURN = r"""
files:
  description: Files of finished runs with path, bytes and SHA-256.
  returned: without C(read)
  type: list
  elements: dict
parts:
  description: Each part, deflated, in Base64.
  returned: with C(read)
  type: list
  elements: str
"""

FINISHED = ("complete", "failed")
# What the lake needs of a run.
PATTERNS = ("checksums.txt", "histograms-*.parquet", "run.json")


def finished(folder):
    try:
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
            return json.load(file)["run"]["status"] in FINISHED
    except (OSError, ValueError, KeyError, TypeError):
        return False


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def listed(store):
    """The files of all finished runs, with `run.json` the last of each: where it is, the run is whole."""
    files = []
    for folder in sorted(glob.glob(os.path.join(glob.escape(store), "*", "*", "runs", "*"))):
        if not finished(folder):
            continue
        for pattern in PATTERNS:
            for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))):
                files.append({"path": os.path.relpath(path, store), "bytes": os.path.getsize(path), "sha256": sha256(path)})
    return files


def part(store, path, offset, length):
    whole = os.path.realpath(os.path.join(store, path))
    if not whole.startswith(os.path.realpath(store) + os.sep):
        raise ValueError(f"{path} is not below {store}")
    with open(whole, "rb") as file:
        file.seek(offset)
        return base64.b64encode(zlib.compress(file.read(length), 1)).decode()


def main():
    module = AnsibleModule(
        argument_spec={
            "store": {"type": "path", "required": True},
            "read": {
                "type": "list", "elements": "dict",
                "options": {
                    "path": {"type": "str", "required": True},
                    "offset": {"type": "int", "required": True},
                    "length": {"type": "int", "required": True},
                },
            },
        },
        supports_check_mode=True,
    )  # fmt: skip
    store, read = module.params["store"], module.params["read"]
    try:
        if read is None:
            module.exit_json(changed=False, files=listed(store))
        module.exit_json(changed=False, parts=[part(store, **one) for one in read])
    except (OSError, ValueError) as error:
        module.fail_json(msg=f"cannot read runs in {store}: {error}")


if __name__ == "__main__":
    main()
