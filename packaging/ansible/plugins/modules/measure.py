#!/usr/bin/python
"""Measures the drives of one host, or says what that would take. The store of each run is the record of what is done.

A run that was killed is resumed by the program itself, and one that another play still measures is waited for: so a play that
ends anywhere leaves nothing that its successor does twice.
"""

from __future__ import annotations

import datetime
import fcntl
import glob
import hashlib
import json
import os
import re
import signal
import subprocess
import threading

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
---
module: measure
short_description: Measure drives with drivescope, each experiment once per campaign
description:
  - Runs experiments on the drives of a host. A run that is in the store is not repeated, an interrupted one is resumed.
  - Read-only, unless a consent names the serial number of the drive and has not expired.
version_added: 0.1.0
author: drivescope (@drivescope)
options:
  state:
    description: Whether to measure, or only to say what is missing and what it takes.
    type: str
    choices: [planned, measured]
    default: measured
  program:
    description: The program drivescope.
    type: path
    default: drivescope
  store:
    description: Folder for the runs.
    type: path
    required: true
  campaign:
    description: Name of this round of measurements. Another name measures again.
    type: str
    default: initial
  drives:
    description: The drives of the host.
    type: list
    elements: dict
    required: true
    options:
      device:
        description: Path of the device, or C(sim:NAME) for a virtual drive.
        type: str
        required: true
      serial:
        description: Serial number.
        type: str
        required: true
  experiments:
    description: What to measure on each drive.
    type: list
    elements: dict
    required: true
    options:
      experiment:
        description: Command of drivescope.
        type: str
        required: true
        choices: [check, surface, access, geometry, sustain, valleys, sizes, ping, verify, commit]
      options:
        description: Further options of the command, none of which may allow writes.
        type: list
        elements: str
        default: []
      repeat:
        description: Number of runs.
        type: int
        default: 1
      write:
        description: Whether the experiment writes. Each drive then needs a consent.
        type: bool
        default: false
  consents:
    description: Consents to write, from a vault.
    type: list
    elements: dict
    default: []
    options:
      serial:
        description: Serial number of the drive.
        type: str
        required: true
      until:
        description: Last day, C(YYYY-MM-DD), in UTC.
        type: str
        required: true
      destroy_data:
        description: Whether a file system or other data may be overwritten.
        type: bool
        default: false
  only:
    description: Names of the jobs to do, as C(state=planned) returned them. All, if not given.
    type: list
    elements: str
  load_max:
    description: Load per processor from other programs, above which nothing is measured.
    type: float
    default: 1.0
  temperature_max:
    description: Temperature of a drive in degrees Celsius, from which on it is not measured.
    type: int
    default: 55
  watch_seconds:
    description: Seconds between checks of load and temperature.
    type: float
    default: 5
attributes:
  check_mode:
    description: Says what is missing, with bytes and seconds.
    support: full
  diff_mode:
    description: Has no text to compare.
    support: none
"""

EXAMPLES = r"""
- name: Check all drives
  drivescope.fleet.measure:
    store: /var/lib/drivescope/fleet
    drives:
      - {device: /dev/disk/by-id/ata-ST4000DM000_Z300AAAA, serial: Z300AAAA}
    experiments:
      - experiment: check
"""

RETURN = r"""
jobs:
  description: Each drive and experiment with its state, reason, seconds and bytes.
  returned: always
  type: list
  elements: dict
"""

# What would let an experiment write, or lead it to another store or drive.
OPTIONS_REFUSED = {
    "--write", "--destroy-data", "--confirm", "--preserve", "--journal", "--journal-anyway",
    "--store", "--resume", "--dry-run", "--json",
}  # fmt: skip
FINISHED = ("complete", "failed")
# From Ctrl-C until the program has written its run; it has no more to do than that.
STOP_SECONDS = 60
PLAN_SECONDS = 60
ERROR_CHARACTERS_MAX = 2000


class Deferred(Exception):
    """Why a job must wait, for another play to do it."""


class Failed(Exception):
    """Why a job cannot be done."""


class Job:
    """One experiment on one drive."""

    def __init__(self, parameters, drive, experiment):
        self.parameters = parameters
        self.drive = drive
        self.experiment = experiment
        asked = json.dumps([experiment["experiment"], experiment["options"], experiment["write"]])
        serial = re.sub(r"[^A-Za-z0-9-]", "-", drive["serial"])
        if serial != drive["serial"]:
            serial += "-" + digest(drive["serial"])
        self.name = f"{serial}.{experiment['experiment']}-{digest(asked)}"
        self.folder = os.path.join(parameters["store"], re.sub(r"[^A-Za-z0-9-]", "-", parameters["campaign"]))

    def store(self, number):
        """The store of the run of that number; it has no other run."""
        return os.path.join(self.folder, f"{self.name}.{number}")

    def run(self, number):
        """Name and status of the run of that number, finished or not."""
        for path in sorted(glob.glob(os.path.join(self.store(number), "runs", "*", "run.json")), reverse=True):
            try:
                with open(path, encoding="utf-8") as file:
                    status = json.load(file)["run"]["status"]
            except (OSError, ValueError, KeyError, TypeError):
                continue
            return os.path.basename(os.path.dirname(path)), status
        return None, None

    def missing(self):
        numbers = range(1, self.experiment["repeat"] + 1)
        return [number for number in numbers if self.run(number)[1] not in FINISHED]

    def consent(self):
        """The options that allow writes; raises Failed without a consent that holds today."""
        if not self.experiment["write"]:
            return []
        today = datetime.datetime.now(datetime.timezone.utc).date()
        expired = None
        for consent in self.parameters["consents"]:
            if consent["serial"] != self.drive["serial"]:
                continue
            until = datetime.date.fromisoformat(consent["until"])
            if until >= today:
                return ["--write", "--confirm", consent["serial"]] + ["--destroy-data"] * consent["destroy_data"]
            expired = until
        if expired:
            raise Failed(f"the consent to write expired on {expired}. Renew it in the vault.")
        raise Failed("no consent to write to this serial number. Add one to drivescope_consents in the vault.")

    def command(self, number):
        """The command that begins the run of that number, or resumes it."""
        name, status = self.run(number)
        what = ["--resume", name] if name else [self.drive["device"], "--seed", str(seed(self.name, number))]
        options = [] if name else self.experiment["options"]
        if "--seed" in [option.split("=")[0] for option in options]:
            what = what[:1]
        return [self.parameters["program"], self.experiment["experiment"], *what, *options, *self.consent()]

    def lock_path(self):
        return os.path.join(self.parameters["store"], f"{digest(self.drive['serial'])}.lock")

    def lock(self):
        """A file to lock the drive by, for as long as this process or the program lives."""
        os.makedirs(self.folder, mode=0o750, exist_ok=True)
        return open(self.lock_path(), "w", encoding="utf-8")

    def is_running(self):
        try:
            with open(self.lock_path(), encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def seed(name, number):
    return int(digest(f"{name} {number}"), 16)


def refused_option(options):
    for option in options:
        name = option.split("=")[0]
        if name in OPTIONS_REFUSED or not re.fullmatch(r"--[a-z][a-z-]*", name):
            return option
    return None


def check(job):
    """Raises Failed when the job is not one that this module does."""
    option = refused_option(job.experiment["options"])
    if option:
        raise Failed(f"option {option!r} is not allowed. Write options as --name=value; consents allow writes.")
    device = job.drive["device"]
    if device.startswith("sim:"):
        return
    if not device.startswith("/"):
        raise Failed(f"{device} is not an absolute path. Name drives by /dev/disk/by-id/….")
    if not os.path.exists(device):
        raise Failed(f"cannot measure {device}: no such device. Correct the inventory, or check the drive and its cable.")
    # In a folder the program would write a scratch file.
    if os.path.isdir(device):
        raise Failed(f"{device} is a folder. Name the drive.")


def temperature(device, sysfs="/sys"):
    """Degrees Celsius of a drive, as the kernel's sensors say; None without a sensor."""
    name = os.path.basename(os.path.realpath(device))
    folder = f"{sysfs}/class/block/{name}/device"
    for path in glob.glob(f"{folder}/hwmon/hwmon*/temp1_input") + glob.glob(f"{folder}/hwmon*/temp1_input"):
        try:
            with open(path, encoding="ascii") as file:
                return int(file.read()) / 1000
        except (OSError, ValueError):
            continue
    return None


def obstacle(parameters, device, running):
    """Why the drive must not be measured now: load without the measurements themselves, or temperature."""
    load = max(0.0, os.getloadavg()[0] - running) / (os.cpu_count() or 1)
    if load > parameters["load_max"]:
        return f"load per processor is {load:.2f}, limit {parameters['load_max']:g}"
    celsius = temperature(device)
    if celsius is not None and celsius >= parameters["temperature_max"]:
        return f"drive temperature is {celsius:.0f} °C, limit {parameters['temperature_max']} °C"
    return None


def measure(job, running):
    """All runs of a job that are missing. Returns how many there were."""
    with job.lock() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        missing = job.missing()
        for number in missing:
            why = obstacle(job.parameters, job.drive["device"], running)
            if why:
                raise Deferred(why)
            measure_once(job, number, running, file)
        return len(missing)


def measure_once(job, number, running, lock):
    # The program keeps the lock if this process is killed: the drive is then still being measured.
    process = subprocess.Popen(
        [*job.command(number), "--quiet", "--plain", "--store", job.store(number)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        pass_fds=[lock.fileno()],
    )  # fmt: skip
    why = None
    while True:
        try:
            told = process.communicate(timeout=job.parameters["watch_seconds"])[1]
            break
        except subprocess.TimeoutExpired:
            why = obstacle(job.parameters, job.drive["device"], running)
            if why:
                told = stop(process)
                break
    if job.run(number)[1] in FINISHED:
        return
    if why:
        raise Deferred(f"stopped: {why}")
    raise Failed(f"the program ended with status {process.returncode}: {told.strip()[-ERROR_CHARACTERS_MAX:]}")


def stop(process):
    """Ends the program as Ctrl-C does, so that the run is kept and can be resumed."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=STOP_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1]


def plan(job):
    """Seconds, likely and at most, and bytes read and written at most, of one run; None where the program states none."""
    command = [job.parameters["program"], job.experiment["experiment"], job.drive["device"]]
    command += [*job.experiment["options"], *job.consent(), "--dry-run", "--json", "-"]
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=PLAN_SECONDS, check=False
    )
    if ended.returncode != 0:
        raise Failed(ended.stderr.strip()[-ERROR_CHARACTERS_MAX:])
    told = json.loads(ended.stdout)
    return {
        "seconds": seconds(told["likely_ns"]),
        "seconds_max": seconds(told["longest_ns"]),
        "bytes_read": told["bytes_read_max"],
        "bytes_written": told["bytes_written_max"],
    }


def seconds(nanoseconds):
    return None if nanoseconds is None else nanoseconds / 1e9


def planned(job):
    """What is missing of a job, and what that takes."""
    result = {"name": job.name, "serial": job.drive["serial"], "experiment": job.experiment["experiment"], "why": None}
    missing = len(job.missing())
    result["missing"] = missing
    try:
        check(job)
        if missing == 0:
            return {**result, "state": "done"}
        if job.is_running():
            return {**result, "state": "running"}
        one = plan(job)
    except (Failed, OSError, ValueError, subprocess.SubprocessError) as error:
        return {**result, "state": "failed", "why": str(error)}
    return {**result, "state": "missing", **{key: None if value is None else value * missing for key, value in one.items()}}


def measured(job, running, results):
    result = {"name": job.name, "serial": job.drive["serial"], "experiment": job.experiment["experiment"], "why": None}
    try:
        check(job)
        result.update(state="done", measured=measure(job, running))
    except Deferred as why:
        result.update(state="deferred", why=str(why))
    except (Failed, OSError, ValueError) as error:
        result.update(state="failed", why=str(error))
    result["missing"] = len(job.missing())
    results.append(result)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["planned", "measured"], "default": "measured"},
            "program": {"type": "path", "default": "drivescope"},
            "store": {"type": "path", "required": True},
            "campaign": {"type": "str", "default": "initial"},
            "drives": {
                "type": "list", "elements": "dict", "required": True,
                "options": {"device": {"type": "str", "required": True}, "serial": {"type": "str", "required": True}},
            },
            "experiments": {
                "type": "list", "elements": "dict", "required": True,
                "options": {
                    "experiment": {
                        "type": "str", "required": True,
                        "choices": [
                            "check", "surface", "access", "geometry", "sustain",
                            "valleys", "sizes", "ping", "verify", "commit",
                        ],
                    },
                    "options": {"type": "list", "elements": "str", "default": []},
                    "repeat": {"type": "int", "default": 1},
                    "write": {"type": "bool", "default": False},
                },
            },
            "consents": {
                "type": "list", "elements": "dict", "default": [],
                "options": {
                    "serial": {"type": "str", "required": True},
                    "until": {"type": "str", "required": True},
                    "destroy_data": {"type": "bool", "default": False},
                },
            },
            "only": {"type": "list", "elements": "str"},
            "load_max": {"type": "float", "default": 1.0},
            "temperature_max": {"type": "int", "default": 55},
            "watch_seconds": {"type": "float", "default": 5},
        },
        supports_check_mode=True,
    )  # fmt: skip
    parameters = module.params
    os.umask(0o027)
    jobs = [Job(parameters, drive, experiment) for drive in parameters["drives"] for experiment in parameters["experiments"]]
    if parameters["only"] is not None:
        jobs = [job for job in jobs if job.name in parameters["only"]]
    if parameters["state"] == "planned" or module.check_mode:
        told = [planned(job) for job in jobs]
        changed = parameters["state"] == "measured" and any(job["state"] == "missing" for job in told)
        module.exit_json(changed=changed, jobs=told)
    results = []
    threads = [threading.Thread(target=measured, args=(job, len(jobs), results)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.sort(key=lambda result: result["name"])
    module.exit_json(changed=any(result.get("measured") for result in results), jobs=results)


if __name__ == "__main__":
    main()
