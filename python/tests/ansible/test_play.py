"""Plays on hosts in namespaces: installed, measured, killed, collected, and lied to. Needs root; the hosts end with the test."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import COLLECTION

PROGRAM = os.environ.get("DRIVESCOPE_PROGRAM", "drivescope")
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin"
SECRET = "vault-password-of-the-test"
# In one bed, since its hosts take seconds to make: what each step prints is in a file of its name.
STEPS = f"""
for way in wheel deb; do
  install="ansible-playbook drivescope.fleet.install --user root --limit host-01 -e @$way.json"
  $install --check > install-$way-check.txt
  $install > install-$way.txt
  chroot hosts/host-01/root drivescope --version > version-$way.txt
  $install > install-$way-again.txt
done
ansible-playbook drivescope.fleet.install --user root > install-file.txt
chroot hosts/host-01/root drivescope --version > version-file.txt
ansible-playbook drivescope.fleet.install --user root > install-file-again.txt
ANSIBLE_PIPELINING=False ansible host-01 -m command -a 'touch .ssh/x .ssh/authorized_keys x fleet/x' > touched.txt
ansible-playbook drivescope.fleet.fleet --check > check.txt; ls > listed-after-check.txt
python {COLLECTION}/tests/kills.py --kills 10 > kills.txt
ansible-vault encrypt consents.yml --vault-password-file password > /dev/null
ansible-playbook drivescope.fleet.measure --limit host-01 -e @write.yml -e @consents.yml --vault-password-file password -vvv > write.txt &
while kill -0 $!; do cat /proc/[0-9]*/cmdline | tr '\\0' ' ' >> command-lines.txt; sleep 0.2; done
sed -i "s|AAAA[^ ]*|$(cut -d ' ' -f 2 key.pub)|" known_hosts
rm -f hosts/[0-9a-f]*
ansible-playbook drivescope.fleet.measure -e drivescope_campaign=second -e drivescope_retries=0 > other-key.txt
true
"""


SAYS_VERSION = "#!/bin/sh\necho drivescope 0.1.0 of the {}\n"


def sources(folder: Path) -> dict[str, Path]:
    """A package and a wheel as small as they get."""
    tree = folder / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        "Package: drivescope\nVersion: 0.1.0-1\nArchitecture: all\nMaintainer: Test <test@example.org>\nDescription: test\n"
    )
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/drivescope").write_text(SAYS_VERSION.format("package"))
    (tree / "usr/bin/drivescope").chmod(0o755)
    deb = folder / "drivescope_0.1.0-1_all.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", str(tree), str(deb)], check=True, capture_output=True)
    wheel = folder / "drivescope-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("drivescope-0.1.0.data/scripts/drivescope", SAYS_VERSION.format("wheel"))
        archive.writestr("drivescope-0.1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: drivescope\nVersion: 0.1.0\nRequires-Dist: pyarrow\n")
        archive.writestr("drivescope-0.1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("drivescope-0.1.0.dist-info/RECORD", "")
    return {"deb": deb, "wheel": wheel}


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bed in which all steps were done."""
    missing = [tool for tool in ("ip", "unshare", "sshd", "ssh", "dpkg-deb") if shutil.which(tool, path=PATH) is None]
    if os.geteuid() != 0 or missing:
        pytest.skip(f"hosts in namespaces need {'root' if not missing else ', '.join(missing)}")
    folder = tmp_path_factory.mktemp("bed")
    (folder / "password").write_text(SECRET)
    (folder / "consents.yml").write_text('drivescope_consents: [{serial: "Z0010", until: 9999-12-31, destroy_data: true}]\n')
    for way, source in sources(folder).items():
        variables = {"drivescope_install": way, "drivescope_install_source": str(source)}
        variables["drivescope_install_sha256"] = hashlib.sha256(source.read_bytes()).hexdigest()
        (folder / f"{way}.json").write_text(json.dumps(variables))
    experiments = [{"experiment": "verify", "write": True, "options": ["--time-limit=10s"]}]
    (folder / "write.yml").write_text(json.dumps({"drivescope_experiments": experiments, "drivescope_retries": 0}))
    command = [sys.executable, str(COLLECTION / "tests/bed.py"), "--hosts", "2", "--repeat", "3", "--folder", str(folder), "--program", PROGRAM]
    environment = {**os.environ, "PATH": PATH, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    with (folder / "steps.txt").open("w") as log:
        ended = subprocess.run([*command, "--", "sh", "-c", STEPS], env=environment, stdout=log, stderr=log, check=False)
    assert ended.returncode == 0, (folder / "steps.txt").read_text()
    return folder


def recap(folder: Path, name: str) -> dict[str, dict[str, int]]:
    """The numbers of the last lines of a play, by host."""
    lines = re.findall(r"^(\S+) +: (ok=.+)$", (folder / name).read_text(), re.MULTILINE)
    return {host: {key: int(number) for key, number in re.findall(r"(\w+)=(\d+)", numbers)} for host, numbers in lines}


@pytest.mark.parametrize("way", ["wheel", "deb"])
def test_installing_twice_changes_nothing(bed, way):
    for name in (f"install-{way}-check.txt", f"install-{way}.txt"):
        hosts = recap(bed, name)
        assert [(host["failed"], host["changed"] > 0) for host in hosts.values()] == [(0, True)], (bed / name).read_text()
    assert [(host["failed"], host["changed"]) for host in recap(bed, f"install-{way}-again.txt").values()] == [(0, 0)]


def test_installing_the_program_on_new_and_other_hosts_twice_changes_nothing(bed):
    assert [(host["failed"], host["changed"] > 0) for host in recap(bed, "install-file.txt").values()] == [(0, True), (0, True)]
    assert [(host["failed"], host["changed"]) for host in recap(bed, "install-file-again.txt").values()] == [(0, 0), (0, 0)]


def test_the_way_that_was_installed_last_is_used(bed):
    """Each way follows another on the same host."""
    said = {way: (bed / f"version-{way}.txt").read_text() for way in ("wheel", "deb", "file")}
    assert (said["wheel"], said["deb"]) == ("drivescope 0.1.0 of the wheel\n", "drivescope 0.1.0 of the package\n")
    assert said["file"].startswith("drivescope ") and " of the " not in said["file"]


def test_the_user_can_write_only_to_its_runs(bed):
    text = (bed / "touched.txt").read_text()
    for path in (".ssh/x", ".ssh/authorized_keys", "x"):
        assert f"touch: cannot touch '{path}': Permission denied" in text, text
    assert "cannot touch 'fleet/x'" not in text


def test_check_mode_says_what_it_takes_and_does_nothing(bed):
    text = (bed / "check.txt").read_text()
    assert '"runs": 12\n' in text and '"bytes_written_max": 0,' in text and re.search(r'"drive_hours": 0\.\d+', text)
    assert re.search(r'"hours": 0\.\d+', text) and re.search(r'"hours_max": 0\.\d+', text)
    assert "drivescope" not in (bed / "listed-after-check.txt").read_text().split()


def test_a_play_that_is_killed_loses_and_doubles_nothing(bed):
    text = (bed / "kills.txt").read_text()
    assert "12 runs of 4 drives, 0 lost, 0 doubled; 0 files damaged, 0 unfinished\n" in text
    assert "on the hosts 12 stores with 12 runs; status 0, of a second play 0\n" in text
    assert (bed / "drivescope/lake.html").read_text().startswith("<!doctype html>")


def test_a_drive_is_written_to_only_with_a_consent_from_the_vault(bed):
    text = (bed / "write.txt").read_text()
    assert "Z0010 verify" not in text.split("TASK [drivescope.fleet.measure : Report unreachable")[1]
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
