"""The numbers of a server and of its store, for Prometheus."""

import os
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from lobandits.service.decision_service import DecisionService
from lobandits.service.errors import ServiceError
from lobandits.service.observers.activity import group_totals
from lobandits.service.store.history import oldest_unrewarded
from lobandits.service.store.tables import microseconds

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # through it, processes add up their numbers
OLD = 60.0  # seconds that a comparison may be old
GROUPED = ["problem", "group"]


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
        self.silent = Counter(
            "lob_silent_features", "Features sent that were missing or never seen before.",
            ("problem", "feature"), registry=registry,
        )  # fmt: skip
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


class StoreNumbers(Collector):
    """What the store knows, read when it is asked: the same in every process."""

    def __init__(self, service: DecisionService) -> None:
        self.service = service
        self._oldest: dict[str, int] = {}  # the number of the oldest unrewarded decision

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers of every problem; those that could not be read are missing."""
        version = GaugeMetricFamily("lob_model_version", "Decides now.", labels=["problem"])
        oldest = GaugeMetricFamily(
            "lob_oldest_unrewarded_seconds",
            "Age of the oldest decision without a reward.",
            labels=["problem"],
        )
        band = GaugeMetricFamily(
            "lob_comparison_difference",
            "Mean reward per user, model minus control: estimate, low and high.",
            labels=["problem", "bound"],
        )
        decisions = CounterMetricFamily("lob_group_decisions", "Decisions made.", labels=GROUPED)
        rewards = CounterMetricFamily("lob_group_rewards", "Rewards counted.", labels=GROUPED)
        total = GaugeMetricFamily("lob_reward_sum", "Sum of rewards.", labels=GROUPED)
        try:
            for problem, model in self.service.problems.items():
                version.add_metric([problem], float(model.partition("-")[0]))
                self._add_oldest(oldest, problem)
                self._add_groups(problem, decisions, rewards, total)
                self._add_band(band, problem)
        except ServiceError:
            pass  # the store is away, which lob_store_errors counts
        yield from (version, oldest, band, decisions, rewards, total)

    def _add_oldest(self, oldest: GaugeMetricFamily, problem: str) -> None:
        found = oldest_unrewarded(self.service.store, problem, self._oldest.get(problem, 0))
        if found is not None:
            self._oldest[problem], made = found
        seconds = 0.0 if found is None else (microseconds() - made) / 1e6
        oldest.add_metric([problem], max(0.0, seconds))

    def _add_groups(
        self,
        problem: str,
        decisions: CounterMetricFamily,
        rewards: CounterMetricFamily,
        total: GaugeMetricFamily,
    ) -> None:
        sums: dict[str, list[float]] = {}
        for _, group, *found in group_totals(self.service.store, problem):
            mine = sums.setdefault(group, [0.0, 0.0, 0.0])
            sums[group] = [a + float(b) for a, b in zip(mine, found, strict=True)]
        for group, values in sums.items():
            decisions.add_metric([problem, group], values[0])
            rewards.add_metric([problem, group], values[1])
            total.add_metric([problem, group], values[2])

    def _add_band(self, band: GaugeMetricFamily, problem: str) -> None:
        difference = self.service.comparison(problem, age=OLD).get("difference") or {}
        for bound in ("estimate", "low", "high"):
            value = difference.get(bound)
            if value is not None:
                band.add_metric([problem, bound], value)

    def text(self) -> bytes:
        """Return the numbers as text."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry)
