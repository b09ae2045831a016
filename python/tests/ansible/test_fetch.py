"""Whatever a compromised host answers, only whole files with the names and sizes of runs get into its folder of the spool."""

from __future__ import annotations

import base64
import hashlib
import zlib
from pathlib import Path

import pytest
from ansible.errors import AnsibleActionFail

GOOD = "initial/Z1.check-0a1b2c3d.1/runs/run-1/run.json"


class Host:
    """Answers as the module `runs` does, from a dictionary; `fails_after` calls the connection is lost."""

    def __init__(self, files, fails_after=None):
        self.files, self.fails_after, self.calls = files, fails_after, []

    def answer(self, arguments):
        self.calls.append(arguments)
        if self.fails_after is not None and len(self.calls) > self.fails_after:
            return {"unreachable": True, "msg": "gone"}
        if "read" not in arguments:
            return {"files": [listed(path, data) for path, data in self.files.items()]}
        return {"parts": [packed(self.files[one["path"]][one["offset"] : one["offset"] + one["length"]]) for one in arguments["read"]]}


def listed(path, data):
    return {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def packed(data):
    return base64.b64encode(zlib.compress(data)).decode()


def transfer(fetch, host, spool: Path, monkeypatch, check_mode=False):
    """The action as Ansible calls it, with the host behind it."""
    monkeypatch.setattr(fetch.ActionBase, "run", lambda *_: {})
    action = fetch.ActionModule.__new__(fetch.ActionModule)
    action._task = type("Task", (), {"args": {"store": "/store", "spool": str(spool)}, "check_mode": check_mode})
    action._call = lambda arguments, _: host.answer(arguments)
    return action.run(None, {"inventory_hostname": "node-1"})


def files_below(folder: Path):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_files_are_fetched_once(fetch, tmp_path, monkeypatch):
    host = Host({GOOD: b"{}", GOOD.replace("run.json", "checksums.txt"): b""})
    assert transfer(fetch, host, tmp_path, monkeypatch, check_mode=True) == {"changed": True, "files": 2, "bytes": 2}
    assert files_below(tmp_path) == []
    assert transfer(fetch, host, tmp_path, monkeypatch)["changed"] is True
    assert (tmp_path / "node-1" / GOOD).read_bytes() == b"{}"
    assert transfer(fetch, host, tmp_path, monkeypatch) == {"changed": False, "files": 0, "bytes": 0}


def test_a_transfer_that_was_cut_off_goes_on_where_it_stopped(fetch, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "CALL_BYTES", 1000)
    data = bytes(range(256)) * 10
    assert transfer(fetch, Host({GOOD: data}, fails_after=2), tmp_path, monkeypatch)["unreachable"] is True
    assert files_below(tmp_path) == [f"node-1/{GOOD}.part"]
    host = Host({GOOD: data})
    transfer(fetch, host, tmp_path, monkeypatch)
    assert [call["read"][0]["offset"] for call in host.calls[1:]] == [1000, 2000]
    assert (tmp_path / "node-1" / GOOD).read_bytes() == data and files_below(tmp_path) == [f"node-1/{GOOD}"]


@pytest.mark.parametrize(
    "path",
    [
        "../node-2/runs/x/run.json", "/etc/passwd", "a/b/runs/../run.json", "a/b/runs/x/run.json\n", "a/b/runs/x/y/run.json",
        "a/.b/runs/x/run.json", "a/b/runs/x/trace.sh", "a/b/runs/" + "x" * 300 + "/run.json", "a/b/runs/x/histograms-1.parquet", None, 7, ["a"],
    ],
)  # fmt: skip
def test_names_that_no_run_has_are_refused(fetch, path):
    with pytest.raises(AnsibleActionFail, match="lists a file that no run has"):
        fetch.checked([{"path": path, "bytes": 1, "sha256": "0" * 64}], "node-1")


@pytest.mark.parametrize("size", [-1, 2**26 + 1, 10**30, 1.5, "1", None, True])
def test_sizes_that_no_run_has_are_refused(fetch, size):
    with pytest.raises(AnsibleActionFail, match="more than the program writes"):
        fetch.checked([{"path": GOOD, "bytes": size, "sha256": "0" * 64}], "node-1")


def test_lists_that_are_none_are_refused(fetch):
    for files in (None, {}, "x", [{}] * 100_001):
        with pytest.raises(AnsibleActionFail, match="or no list"):
            fetch.checked(files, "node-1")
    with pytest.raises(AnsibleActionFail, match="without a SHA-256"):
        fetch.checked([{"path": GOOD, "bytes": 1, "sha256": "x"}], "node-1")


def test_bytes_that_differ_from_what_was_listed_never_count(fetch, tmp_path, monkeypatch):
    class Liar(Host):
        def answer(self, arguments):
            if "read" in arguments:
                return {"parts": [packed(b"no")]}
            return super().answer(arguments)

    with pytest.raises(AnsibleActionFail, match="is not as its SHA-256 says"):
        transfer(fetch, Liar({GOOD: b"{}"}), tmp_path, monkeypatch)
    assert files_below(tmp_path) == []


@pytest.mark.parametrize(
    "text, why",
    [
        (packed(b"\0" * 10**9), "bytes or more where 4 were asked for"),
        (packed(b"abc"), "returned 3 bytes or more where 4"),
        ("not base64!", "a part that is damaged"),
        (base64.b64encode(b"no zlib").decode(), "a part that is damaged"),
        (None, "a part that is damaged"),
    ],
)
def test_parts_are_bounded_and_checked(fetch, text, why):
    with pytest.raises(AnsibleActionFail, match=why):
        fetch.inflated(text, 4)


def test_a_host_reads_only_below_its_store(runs, tmp_path):
    (tmp_path / "secret").write_text("x")
    (tmp_path / "store").mkdir()
    (tmp_path / "store/link").symlink_to(tmp_path / "secret")
    for path in ("../secret", "link"):
        with pytest.raises(ValueError, match="is not below"):
            runs.part(str(tmp_path / "store"), path, 0, 1)
