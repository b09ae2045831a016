"""Filters that turn what hosts still have to measure into rounds that keep the limits of racks, enclosures and controllers."""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import re
from collections import Counter

DOCUMENTATION = r"""
name: rounds
short_description: Schedule jobs in rounds within the limits of each rack, enclosure, controller and host
version_added: 0.1.0
author: drivescope (@drivescope)
description:
  - Running jobs come first and alone; the others follow, the longest first.
options:
  _input:
    description: Jobs, as the filter C(drivescope.fleet.waiting) made them.
    type: list
    elements: dict
    required: true
  limits:
    description: Jobs in parallel in each rack, enclosure, controller and host.
    type: dict
    required: true
"""

EXAMPLES = r"""
rounds: "{{ waiting | drivescope.fleet.rounds({'rack': 4, 'enclosure': 1}) }}"
"""

RETURN = r"""
_value:
  description: For each round the names of the jobs of each host.
  type: list
  elements: dict
"""

KINDS = ("rack", "enclosure", "controller", "host")


def waiting(jobs, drives, host):
    """The jobs of a host that are missing or running, with the places whose limits hold for them."""
    by_serial = {drive["serial"]: drive for drive in drives}
    return [
        {
            "host": host,
            "name": job["name"],
            "state": job["state"],
            "runs": job["missing"],
            "seconds": job.get("seconds"),
            "seconds_max": job.get("seconds_max"),
            "bytes_read": job.get("bytes_read"),
            "bytes_written": job.get("bytes_written"),
            "places": places(by_serial[job["serial"]], host),
        }
        for job in jobs
        if job["state"] in ("missing", "running")
    ]


def places(drive, host):
    """An enclosure is one of its rack, a controller one of its host."""
    rack = drive.get("rack")
    found = {"host": host}
    if rack:
        found["rack"] = str(rack)
    if drive.get("enclosure"):
        found["enclosure"] = f"{rack}/{drive['enclosure']}"
    if drive.get("controller"):
        found["controller"] = f"{host}/{drive['controller']}"
    return found


def rounds(jobs, limits):
    """Jobs in rounds, as `{host: [name]}`, with at most so many of a place in one round."""
    for kind, limit in limits.items():
        if kind not in KINDS or int(limit) < 1:
            raise ValueError(f"limit {kind}: {limit} is invalid: limits are numbers above 0 for {', '.join(KINDS)}")
    running = [job for job in jobs if job["state"] == "running"]
    rest = sorted((job for job in jobs if job["state"] != "running"), key=lambda job: (-(job["seconds"] or 0), job["host"], job["name"]))
    result = [by_host(running)] if running else []
    while rest:
        taken, used, left = [], Counter(), []
        for job in rest:
            claims = [(kind, job["places"][kind]) for kind in limits if kind in job["places"]]
            if all(used[claim] < int(limits[claim[0]]) for claim in claims):
                used.update(claims)
                taken.append(job)
            else:
                left.append(job)
        result.append(by_host(taken))
        rest = left
    return result


def by_host(jobs):
    result = {}
    for job in jobs:
        result.setdefault(job["host"], []).append(job["name"])
    return result


def cost(jobs, jobs_by_round):
    """What all rounds take: runs, bytes, hours of drives and hours until the end; None where the program states no number or bound."""
    return {
        "runs": sum(job["runs"] for job in jobs),
        "rounds": len(jobs_by_round),
        "bytes_read_max": total(job["bytes_read"] for job in jobs),
        "bytes_written_max": total(job["bytes_written"] for job in jobs),
        "drive_hours": hours(job["seconds"] for job in jobs),
        "hours": hours(longest(jobs, one, "seconds") for one in jobs_by_round),
        "hours_max": hours(longest(jobs, one, "seconds_max") for one in jobs_by_round),
    }


def longest(jobs, one_round, key):
    """The time of a round, whose jobs run at the same time."""
    values = [job[key] for job in jobs if job["name"] in one_round.get(job["host"], [])]
    return None if None in values else max(values)


def hours(seconds):
    seconds = list(seconds)
    return None if None in seconds else round(sum(seconds) / 3600, 3)


def total(values):
    values = list(values)
    return None if None in values else int(sum(values))


def inventory_csv(drives_by_host):
    """The inventory of `python -m drivescope.fleet push`: which host and place each serial number has."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["serial", "host", "rack", "enclosure", "slot", "batch"])
    hosts = {}
    for host, drives in drives_by_host:
        for drive in drives:
            other = hosts.setdefault(str(drive["serial"]), host)
            if other != host:
                raise ValueError(f"the inventory has serial number {drive['serial']} on {other} and on {host}")
            writer.writerow([drive["serial"], host, *(drive.get(key, "") for key in ("rack", "enclosure", "slot", "batch"))])
    return text.getvalue()


def devices(drives):
    """What the module measure takes of a drive."""
    return [{"device": drive["device"], "serial": str(drive["serial"])} for drive in drives]


def left(jobs, reasons):
    """A line for each job that is not done, with the reason."""
    return [
        f"{job['serial']} {job['experiment']}: {job['why'] or reasons.get(job['name']) or 'not measured'}"
        for job in jobs
        if job["state"] != "done"
    ]


def holds(consents, serial):
    """Whether a consent to write to this drive has not expired."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return any(one["serial"] == serial and datetime.date.fromisoformat(str(one["until"])) >= today for one in consents)


def udev(serial):
    """A serial number for a rule; one with characters that mean something there is refused."""
    if not re.fullmatch(r"[A-Za-z0-9._-]+", str(serial)):
        raise ValueError(f"no udev rule can be made for serial number {serial!r}: it has other characters than letters and digits")
    return serial


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        return {
            "waiting": waiting,
            "rounds": rounds,
            "cost": cost,
            "inventory_csv": inventory_csv,
            "devices": devices,
            "left": left,
            "holds": holds,
            "udev": udev,
            "sha256": sha256,
        }
