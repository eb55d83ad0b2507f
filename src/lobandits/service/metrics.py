"""What Prometheus reads at ``/metrics``, counted over all processes of one server.

Each process writes its numbers to files in the folder ``PROMETHEUS_MULTIPROC_DIR`` (which
`lobandits.service.server` makes), and whichever process is asked adds them up. Without that
folder, as in an application that calls `create_app` itself, a process reports itself.
"""

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = frozenset(("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"))


class Metrics:
    """The counters of a server.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.request("GET", "/healthz", 200, seconds=0.001)
    >>> b'lob_requests_total{method="GET",route="/healthz",status="200"}' in metrics.text()
    True
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "lob_requests", "Requests answered.", ("method", "route", "status"),
            registry=self.registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "lob_request_seconds", "Time to answer.", ("route",),
            buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.decisions = Counter(
            "lob_decisions", "Decisions made.", ("arm",), registry=self.registry
        )
        self.rewards = Counter(
            "lob_rewards", "Rewards answered, by status.", ("status",), registry=self.registry
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return all numbers in Prometheus' text format."""
        if FOLDER not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
