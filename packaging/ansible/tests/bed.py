#!/usr/bin/env python3
"""A fleet on one machine: hosts in namespaces with virtual drives, each with an sshd of its own, and a command that sees them.

    namespaces of the bed: mounts, network, processes
    ├─ bridge 10.77.0.1, the command (ansible-playbook …)
    └─ host-01 … host-20: network, mounts, processes, host name; its root is an overlay of this machine's, in memory

All of it ends with the process that began it: nothing outside the folder of the bed is changed, and nothing is left to clean up.
Needs root, and the programs ip, unshare, sshd and ssh-keygen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

TOOLS = ("ip", "unshare", "sshd", "ssh", "ssh-keygen", "mount", "chroot")
NETWORK = "10.77.0"
DRIVES_PER_HOST = 2
HOSTS_PER_RACK = 5
MODELS = (("ST4000DM000", "CC52", 150e6), ("WD40EFRX", "82.00A82", 175e6))
SLOW = 0.80
PLAYS = ["sh", "-c", "ansible-playbook drivescope.fleet.install --user root && ansible-playbook drivescope.fleet.fleet"]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass
class Host:
    """A host, its place and its drives, with what is wrong with them."""

    number: int
    drives: list[dict] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"host-{self.number:02}"

    @property
    def address(self) -> str:
        return f"{NETWORK}.{9 + self.number}"

    @property
    def rack(self) -> str:
        return f"rack-{(self.number - 1) // HOSTS_PER_RACK + 1}"


def hosts_of(count: int, seed: int = 1) -> list[Host]:
    """The fleet. One drive in ten is slow, one of the others fails; the truth is known before anything is measured."""
    drawn = random.Random(seed)
    hosts = [Host(number + 1) for number in range(count)]
    places = [(host, slot) for host in hosts for slot in range(DRIVES_PER_HOST)]
    strange = drawn.sample(places, max(2, len(places) // 10 + 1))
    for host, slot in places:
        model, firmware, rate = MODELS[slot]
        truth = "sound"
        if (host, slot) == strange[0]:
            truth = "failing"
        elif (host, slot) in strange:
            truth = "slow"
        rate *= drawn.gauss(1, 0.004) * (SLOW if truth == "slow" else 1)
        serial = f"{'ZW'[slot]}{host.number:03}{slot}"
        host.drives.append({"serial": serial, "slot": slot + 1, "model": model, "firmware": firmware, "rate": rate, "truth": truth})
    return hosts


def profile(drive: dict) -> str:
    """The virtual drive: a disk of a zone, with its rate, and unreadable sectors if it fails."""
    text = f"""version = 1
name = "{drive['serial'].lower()}"
description = "a drive of the fleet"

[identity]
model = "{drive['model']}"
serial = "{drive['serial']}"
firmware = "{drive['firmware']}"
logical_block_bytes = 512
rotational = true

[zoned]
capacity_bytes = 500000000000
overhead_s = 0.0002
seek_single_s = 0.0008
seek_root_s = 0.011
seek_linear_s = 0.0067
rotation_s = 0.008333333333333333
transfer_jitter = 0.01
zones = [
    {{ first_byte = 0, bytes_per_second = {drive['rate']:.1f} }},
    {{ first_byte = 249999998976, bytes_per_second = {drive['rate'] * 0.7:.1f} }},
]
"""
    if drive["truth"] == "failing":
        text += '\n[[faults]]\nkind = "unreadable"\nfirst_byte = 0\nbytes = 400000000000\nmilliseconds = 50\n'
    return text


def run(*command: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, **options)


class Bed:
    """The bridge, the hosts that run, and the files that the command needs to reach them."""

    def __init__(self, folder: Path, hosts: list[Host], program: Path, repeat: int):
        self.folder, self.hosts, self.program, self.repeat = folder, hosts, program, repeat
        self.roots = folder / "hosts"
        self.processes: dict[str, subprocess.Popen] = {}

    def make(self) -> None:
        """Everything but the hosts themselves."""
        self.roots.mkdir(exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "mode=755", "bed", str(self.roots))
        run("mount", "-t", "tmpfs", "-o", "mode=755", "bed", "/run")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge0", "type", "bridge")
        run("ip", "address", "add", f"{NETWORK}.1/24", "dev", "bridge0")
        run("ip", "link", "set", "bridge0", "up")
        if not (self.folder / "key").exists():
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bed", "-f", str(self.folder / "key"))
        known = []
        for host in self.hosts:
            known.append(f"{host.address} {self._make_host(host)}")
        (self.folder / "known_hosts").write_text("\n".join(known) + "\n")
        (self.folder / "inventory.json").write_text(json.dumps(self._inventory(), indent=1))
        (self.folder / "ansible.cfg").write_text(self._configuration())
        truth = [{**drive, "host": host.name} for host in self.hosts for drive in host.drives]
        (self.folder / "truth.json").write_text(json.dumps(truth, indent=1))

    def _make_host(self, host: Host) -> str:
        """The root of a host, and its network; returns its public host key."""
        base = self.roots / host.name
        root = base / "root"
        for name in ("upper", "work", "root"):
            (base / name).mkdir(parents=True)
        run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir=/,upperdir={base}/upper,workdir={base}/work", str(root))
        (root / "etc/hostname").write_text(host.name + "\n")
        ssh = root / "root/.ssh"
        ssh.mkdir(mode=0o700, exist_ok=True)
        (ssh / "authorized_keys").write_bytes((self.folder / "key.pub").read_bytes())
        (root / "etc/udev/rules.d").mkdir(parents=True, exist_ok=True)
        bed = root / "srv/bed"
        bed.mkdir(parents=True)
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", host.name, "-f", str(bed / "host_key"))
        drives = root / "srv/drives"
        drives.mkdir()
        for drive in host.drives:
            (drives / f"{drive['serial']}.toml").write_text(profile(drive))
        link = f"v{host.number}"
        run("ip", "netns", "add", host.name)
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", host.name)
        run("ip", "link", "set", link, "master", "bridge0", "up")
        run("ip", "-n", host.name, "address", "add", f"{host.address}/24", "dev", "eth0")
        run("ip", "-n", host.name, "link", "set", "eth0", "up")
        run("ip", "-n", host.name, "link", "set", "lo", "up")
        return (bed / "host_key.pub").read_text().strip()

    def start(self, host: Host) -> None:
        """Boots a host: its sshd is the first process of its namespace, and with it all others end."""
        root = self.roots / host.name / "root"
        script = f"""
set -e
hostname {host.name}
mount -t proc proc {root}/proc
mount -t tmpfs tmpfs {root}/run
mount -t tmpfs tmpfs {root}/tmp
mount -t tmpfs tmpfs {root}/sys
mount -t tmpfs tmpfs {root}/dev
mknod -m 666 {root}/dev/null c 1 3; mknod -m 666 {root}/dev/zero c 1 5; mknod -m 666 {root}/dev/full c 1 7
mknod -m 666 {root}/dev/random c 1 8; mknod -m 666 {root}/dev/urandom c 1 9; mknod -m 666 {root}/dev/tty c 5 0
mkdir {root}/dev/shm {root}/run/sshd; ln -s /proc/self/fd {root}/dev/fd
exec chroot {root} /usr/sbin/sshd -D -e -f /dev/null -h /srv/bed/host_key -o PidFile=none -o UsePAM=no \
  -o PasswordAuthentication=no -o PermitRootLogin=prohibit-password -o ListenAddress={host.address} \
  -o SetEnv=PATH={PATH} -o Subsystem='sftp internal-sftp'
"""
        log = open(self.folder / f"{host.name}.log", "a", encoding="utf-8")
        self.processes[host.name] = subprocess.Popen(
            ["ip", "netns", "exec", host.name, "unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "sh", "-c", script],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip

    def kill(self, host: Host) -> None:
        """Takes the power away."""
        process = self.processes.pop(host.name)
        process.kill()
        process.wait()

    def _inventory(self) -> dict:
        def variables(host: Host) -> dict:
            drives = [
                {
                    "device": f"sim:/srv/drives/{drive['serial']}.toml",
                    "serial": drive["serial"],
                    "rack": host.rack,
                    "enclosure": f"enclosure-{host.number}",
                    "slot": drive["slot"],
                    "controller": "0",
                }
                for drive in host.drives
            ]
            return {"ansible_host": host.address, "drivescope_drives": drives}

        shared = {
            "ansible_python_interpreter": "/usr/bin/python3",
            "drivescope_install_source": str(self.program),
            "drivescope_install_sha256": hashlib.sha256(self.program.read_bytes()).hexdigest(),
            "drivescope_authorized_keys": [(self.folder / "key.pub").read_text().strip()],
            # No udev runs in a namespace.
            "drivescope_udev": False,
            "drivescope_experiments": [{"experiment": "check", "repeat": self.repeat}],
            "drivescope_limits": {"rack": 6, "enclosure": 2},
            # The hosts share the processors of this machine.
            "drivescope_load_max": 1000,
            "drivescope_retry_seconds": 5,
        }
        members = {host.name: variables(host) for host in self.hosts}
        return {"all": {"vars": shared, "children": {"fleet": {"hosts": members}}}}

    def _configuration(self) -> str:
        return f"""[defaults]
inventory = {self.folder}/inventory.json
remote_user = drivescope
private_key_file = {self.folder}/key
collections_path = {self.folder}/collections
forks = 10
timeout = 5
retry_files_enabled = False

[ssh_connection]
pipelining = True
ssh_args = -F none -o ControlMaster=auto -o ControlPersist=60s -o ControlPath={self.folder}/hosts/%C -o UserKnownHostsFile={self.folder}/known_hosts -o GlobalKnownHostsFile=none -o ServerAliveInterval=2 -o ServerAliveCountMax=2
"""


def watch(bed: Bed, host: Host, returns_after: float | None) -> None:
    """Kills a host as soon as it measures, and boots it again after that many seconds."""
    store = bed.roots / host.name / "root/var/lib/drivescope/fleet"
    while not list(store.glob("*/*/runs/*")):
        time.sleep(0.02)
    bed.kill(host)
    print(f"bed: {host.name} lost its power", flush=True)
    if returns_after is not None:
        time.sleep(returns_after)
        bed.start(host)
        print(f"bed: {host.name} is back", flush=True)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs a command in a fleet of namespace hosts.")
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--folder", type=Path, default=Path("fleet-bed"), help="for inventory, keys and results (default: fleet-bed)")
    parser.add_argument("--program", type=Path, required=True, help="the program drivescope that the hosts get")
    parser.add_argument("--dies", type=int, help="number of a host that dies in the middle and stays away")
    parser.add_argument("--returns", type=int, help="number of a host that dies in the middle and comes back")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each drive (default: 5)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", default=PLAYS, help="what to run in the folder of the bed (default: install, measure, collect, report)")
    return parser.parse_args()


def main() -> int:
    """Enters namespaces of its own, makes the bed there and runs the command."""
    given = options()
    missing = [tool for tool in TOOLS if shutil.which(tool, path=PATH) is None]
    if missing or os.geteuid() != 0:
        print(f"error: cannot make hosts: {'missing ' + ', '.join(missing) if missing else 'this needs root'}.", file=sys.stderr)
        return 2
    if not given.inside:
        inside = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable]
        arguments = [argument for argument in sys.argv if argument != "--inside"]
        return subprocess.run([*inside, arguments[0], "--inside", *arguments[1:]], check=False).returncode
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    collection = str(Path(__file__).resolve().parent.parent)
    run("ansible-galaxy", "collection", "install", collection, "-p", str(folder / "collections"), "--force", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bed = Bed(folder, hosts_of(given.hosts), given.program.absolute(), given.repeat)
    bed.make()
    for host in bed.hosts:
        bed.start(host)
    for number, returns_after in ((given.dies, None), (given.returns, 10)):
        if number is not None:
            threading.Thread(target=watch, args=(bed, bed.hosts[number - 1], returns_after), daemon=True).start()
    environment = {**os.environ, "ANSIBLE_CONFIG": str(folder / "ansible.cfg"), "HOME": str(folder)}
    ended = subprocess.run(given.command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False)
    for host in bed.hosts:
        if host.name in bed.processes:
            bed.processes[host.name].send_signal(signal.SIGKILL)
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
