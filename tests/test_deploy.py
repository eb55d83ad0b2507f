"""What deploy/ ships says only what the project has."""

import inspect
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client.core import Metric

from lobandits.cli.serve import serve
from lobandits.policies import UCB
from lobandits.service import DecisionService
from lobandits.service.http.metrics import Metrics, StoreNumbers

DEPLOY = Path(__file__).parent.parent / "deploy"
OPTIONS = {f"--{name.replace('_', '-')}" for name in inspect.signature(serve).parameters}


@pytest.mark.parametrize("file", ["Dockerfile", "compose.yml", "lob.service"])
def test_every_option_is_one_of_lob_serve(file: str) -> None:
    text = (DEPLOY / file).read_text()
    lines = re.findall(r".*(?:lob serve|\"serve\"|--orders|--store|--workers).*", text)
    used = set(re.findall(r"--[a-z][a-z-]+", "\n".join(lines)))
    assert used
    assert used <= OPTIONS


def test_the_compose_file_waits_for_the_database_and_has_no_secret() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yml").read_text())["services"]
    assert services["lob"]["depends_on"]["db"]["condition"] == "service_healthy"
    assert "healthcheck" in services["db"]
    secrets = {**services["db"]["environment"], **services["lob"]["environment"]}
    for name in ("POSTGRES_PASSWORD", "LOB_API_KEY", "LOB_ADMIN_KEY"):
        assert secrets[name].startswith("${"), name


def test_the_dashboard_shows_numbers_that_a_server_has(tmp_path: Path) -> None:
    metrics = Metrics()
    metrics.requests.labels("GET", "/", "200").inc()
    metrics.seconds.labels("/").observe(1.0)
    metrics.decisions.labels("default", "a").inc()
    metrics.rewards.labels("recorded").inc()
    with DecisionService(UCB(2, sigma=1.0), f"sqlite:///{tmp_path / 'lob.db'}") as service:
        stored = {name for metric in StoreNumbers(service).collect() for name in _names(metric)}
    known = stored | set(re.findall(r"^(lob_\w+)", metrics.text().decode(), re.MULTILINE))
    panels = json.loads((DEPLOY / "grafana.json").read_text())["panels"]
    shown = " ".join(target["expr"] for panel in panels for target in panel["targets"])
    used = set(re.findall(r"lob_\w+", shown))
    assert used <= known
    assert used >= stored - {"lob_group_decisions_total"}
    places = [tuple(panel["gridPos"].values()) for panel in panels]
    assert len({panel["id"] for panel in panels}) == len(set(places)) == len(panels)


def _names(metric: Metric) -> list[str]:
    """Return the name that a metric has in queries."""
    return [f"{metric.name}_total" if metric.type == "counter" else metric.name]


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = (DEPLOY / "lob.service").read_text()
    sections = re.findall(r"^\[(\w+)\]$", unit, re.MULTILINE)
    assert sections == ["Unit", "Service", "Install"]
    verify = shutil.which("systemd-analyze")
    if verify:
        copy = tmp_path / "lob.service"
        copy.write_text(unit.replace("/opt/lobandits/bin/lob", "/bin/true"))
        done = subprocess.run([verify, "verify", copy], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_what_the_image_copies_is_there_and_not_left_out() -> None:
    lines = re.findall(r"^COPY (?!--)(.*) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    copied = {name for line in lines for name in line.split()}
    taken = re.findall(r"^!(.*)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    assert copied == set(taken)
    assert all((DEPLOY.parent / name).exists() for name in copied)
