"""The manifests are what Kubernetes takes, and ask for no more than they need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

FOLDER = Path(__file__).parents[3] / "packaging/kubernetes"
MANIFESTS = [document for path in sorted(FOLDER.glob("*.yaml")) for document in yaml.safe_load_all(path.read_text())]


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest["kind"])
def test_manifests_are_valid(manifest):
    kubernetes_validate.validate(manifest, "1.31", strict=True)


def test_the_schema_refuses_what_is_none():
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**MANIFESTS[0], "spec": {"backoffLimit": "many"}, "knd": "x"}, "1.31", strict=True)


def pod():
    (job,) = (manifest for manifest in MANIFESTS if manifest["kind"] == "Job")
    return job["spec"]["template"]["spec"]


def test_pods_have_the_least_privilege():
    spec = pod()
    assert spec["securityContext"]["runAsNonRoot"] is True and spec["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    for container in spec["initContainers"] + spec["containers"]:
        context = container["securityContext"]
        assert context["capabilities"] == {"drop": ["ALL"]} and context["readOnlyRootFilesystem"] is True
        assert context["privileged"] is context["allowPrivilegeEscalation"] is False
        assert container["resources"]["limits"]["memory"] == "1Gi"
    assert all("hostPath" not in volume for volume in spec["volumes"])


def test_only_the_measurement_sees_the_drive_and_only_to_read():
    (measure,), (push,) = pod()["initContainers"], pod()["containers"]
    assert measure["volumeDevices"] and "volumeDevices" not in push
    assert "envFrom" not in measure and "--write" not in measure["command"]
    assert pod()["volumes"][0]["persistentVolumeClaim"]["readOnly"] is True


def test_the_commands_are_those_of_the_program_and_the_package(tmp_path):
    """They run as they stand, with a virtual drive and folders of the test for what the pod mounts."""
    (measure,), (push,) = pod()["initContainers"], pod()["containers"]
    (variable,) = push["env"]
    assert variable == {"name": "LAKE", "value": "s3://drives/lake"}
    here = {
        "drivescope": os.environ.get("DRIVESCOPE_PROGRAM", "drivescope"), "python": sys.executable,
        "/dev/drive": "sim:zoned", "/data": str(tmp_path / "data"), "$(LAKE)": str(tmp_path / "lake"),
    }  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    outputs = []
    # A pod that is started again pushes nothing twice.
    for container in (measure, push, push):
        command = [here.get(word, word) for word in container["command"]]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        outputs.append(ended.stdout)
    assert "Verdict" in outputs[0] and outputs[1].startswith("1 run added") and outputs[2].startswith("0 runs added"), outputs


def test_no_secret_is_in_a_manifest():
    (push,) = pod()["containers"]
    assert push["envFrom"] == [{"secretRef": {"name": "lake"}}] and "Secret" not in {manifest["kind"] for manifest in MANIFESTS}


def test_the_namespace_is_restricted():
    assert MANIFESTS[-3]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
