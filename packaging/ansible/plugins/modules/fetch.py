#!/usr/bin/python
"""The documentation of the action `fetch`, which does all of its work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: fetch
short_description: Fetches finished runs of drivescope, each file once and checked
description:
  - Asks the host for its finished runs, and copies the files that the controller does not have into C(spool/HOST).
  - A transfer that was stopped goes on where it stopped. Each file is compared with its SHA-256 before it counts.
  - What the host says is not trusted. Names and sizes are checked, and no file leaves the folder of its host.
version_added: 0.1.0
author: drivescope (@drivescope)
options:
  store:
    description: Folder of the runs on the host.
    type: path
    required: true
  spool:
    description: Folder on the controller.
    type: path
    required: true
attributes:
  check_mode:
    description: Says how many runs and bytes are missing.
    support: full
  diff_mode:
    description: Has no text to compare.
    support: none
"""

EXAMPLES = r"""
- name: Fetch what is new
  drivescope.fleet.fetch:
    store: /var/lib/drivescope/fleet
    spool: /var/lib/drivescope/spool
"""

RETURN = r"""
files:
  description: Number of files that were missing.
  returned: always
  type: int
bytes:
  description: Their bytes.
  returned: always
  type: int
"""
