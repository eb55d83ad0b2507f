"""The numbers of a server, for Prometheus."""

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # through it, processes add up their numbers


class Metrics:
    """The counters of a server."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("lob_requests", "Requests answered.", labels, registry=registry)
        self.seconds = Histogram(
            "lob_request_seconds", "Time to answer.", ["route"], registry=registry,
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
        )  # fmt: skip
        self.decisions = Counter(
            "lob_decisions", "Decisions made.", ("problem", "arm"), registry=registry
        )
        self.rewards = Counter(
            "lob_rewards", "Rewards answered, by status.", ["status"], registry=registry
        )
        self.store_errors = Counter(
            "lob_store_errors", "Times that the store could not be used.", registry=registry
        )

    def text(self) -> bytes:
        """Return all numbers as text; with a folder, of all processes."""
        if FOLDER not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
