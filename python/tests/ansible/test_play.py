"""Plays on hosts in namespaces: installed, measured, killed, collected, and lied to. Needs root; the hosts end with the test."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import COLLECTION

PROGRAM = os.environ.get("DRIVESCOPE_PROGRAM", "drivescope")
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin"
SECRET = "vault-password-of-the-test"
# In one bed, since its hosts take seconds to make: what each step prints is in a file of its name.
STEPS = f"""
ansible-playbook drivescope.fleet.install --user root > install.txt
ansible-playbook drivescope.fleet.install --user root > install-again.txt
ansible-playbook drivescope.fleet.fleet --check > check.txt; ls > listed-after-check.txt
python {COLLECTION}/tests/kills.py --kills 3 --seconds 15 > kills.txt
ansible-vault encrypt consents.yml --vault-password-file password > /dev/null
ansible-playbook drivescope.fleet.measure --limit host-01 -e @write.yml -e @consents.yml --vault-password-file password -vvv > write.txt &
while kill -0 $!; do cat /proc/[0-9]*/cmdline | tr '\\0' ' ' >> command-lines.txt; sleep 0.2; done
sed -i "s|AAAA[^ ]*|$(cut -d ' ' -f 2 key.pub)|" known_hosts
rm -f hosts/[0-9a-f]*
ansible-playbook drivescope.fleet.measure -e drivescope_campaign=second -e drivescope_retries=0 > other-key.txt
ANSIBLE_HOST_KEY_CHECKING=False ansible-playbook drivescope.fleet.measure > unchecked.txt
true
"""


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bed in which all steps were done."""
    missing = [tool for tool in ("ip", "unshare", "sshd", "ssh") if shutil.which(tool, path=PATH) is None]
    if os.geteuid() != 0 or missing:
        pytest.skip(f"hosts in namespaces need {'root' if not missing else ', '.join(missing)}")
    folder = tmp_path_factory.mktemp("bed")
    (folder / "password").write_text(SECRET)
    (folder / "consents.yml").write_text('drivescope_consents: [{serial: "Z0010", until: "9999-12-31", destroy_data: true}]\n')
    experiments = [{"experiment": "verify", "write": True, "options": ["--time-limit=10s"]}]
    (folder / "write.yml").write_text(json.dumps({"drivescope_experiments": experiments, "drivescope_retries": 0}))
    command = [sys.executable, str(COLLECTION / "tests/bed.py"), "--hosts", "2", "--repeat", "2", "--folder", str(folder), "--program", PROGRAM]
    environment = {**os.environ, "PATH": PATH, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    with (folder / "steps.txt").open("w") as log:
        ended = subprocess.run([*command, "--", "sh", "-c", STEPS], env=environment, stdout=log, stderr=log, check=False)
    assert ended.returncode == 0, (folder / "steps.txt").read_text()
    return folder


def recap(folder: Path, name: str) -> dict[str, dict[str, int]]:
    """The numbers of the last lines of a play, by host."""
    lines = re.findall(r"^(\S+) +: (ok=.+)$", (folder / name).read_text(), re.MULTILINE)
    return {host: {key: int(number) for key, number in re.findall(r"(\w+)=(\d+)", numbers)} for host, numbers in lines}


def test_installing_twice_changes_nothing(bed):
    assert all(host["failed"] == 0 and host["changed"] > 0 for host in recap(bed, "install.txt").values())
    assert [host["changed"] for host in recap(bed, "install-again.txt").values()] == [0, 0]


def test_check_mode_says_what_it_takes_and_does_nothing(bed):
    text = (bed / "check.txt").read_text()
    assert '"runs": 8\n' in text and '"bytes_written_max": 0,' in text and re.search(r'"drive_hours": 0\.\d+', text)
    assert not {"spool", "lake"} & set((bed / "listed-after-check.txt").read_text().split())


def test_a_play_that_is_killed_loses_and_doubles_nothing(bed):
    text = (bed / "kills.txt").read_text()
    assert "8 runs of 4 drives, 0 lost, 0 doubled; 0 files damaged, 0 unfinished\n" in text
    assert "on the hosts 8 stores with 8 runs; status 0, of a second play 0\n" in text
    assert (bed / "lake.html").read_text().startswith("<!doctype html>")


def test_a_drive_is_written_to_only_with_a_consent_from_the_vault(bed):
    text = (bed / "write.txt").read_text()
    assert "Z0010 verify" not in text.split("TASK [drivescope.fleet.measure : Tell")[1]
    assert "W0011 verify: no consent to write to this serial number." in text


def test_no_secret_is_in_process_lists_or_logs(bed):
    lines = (bed / "command-lines.txt").read_text()
    assert "ansible-playbook" in lines and "sshd" in lines
    for path in bed.glob("*.[tly]*"):
        assert SECRET not in path.read_text(), path
    assert SECRET not in lines and (bed / "consents.yml").read_text().startswith("$ANSIBLE_VAULT")


def test_a_host_with_another_key_is_not_measured(bed):
    text = (bed / "other-key.txt").read_text()
    assert "Host key verification failed" in text or "HOST IDENTIFICATION HAS CHANGED" in text
    assert [host["failed"] for host in recap(bed, "other-key.txt").values()] == [1, 1]
    assert "Host keys are not checked." in (bed / "unchecked.txt").read_text()
