"""Every example runs on its own, without a warning, and says something."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
WRITES = {
    "quickstart": ["agent.json"],
    "batch": [],
    "compare_policies": ["out/result.npz", "out/regret.png"],
    "own_orders": ["orders.json", "orders.png"],
    "lower_bound": ["bound.png"],
    "notification_hour": ["notification_hour.png"],
    "own_policy": ["own_policy.png"],
    "streaming_genres": ["streaming_states.png", "streaming_regret.png"],
    "titration": ["titration.png"],
    "movielens": ["movielens-A.png", "movielens-B.png"],
    "learn_from_logs": ["ratings.parquet", "model.json"],
    "serve_movielens": [],
    "shop_features": [],
    "should_i_switch": ["clicks.csv", "report.html"],
}


def test_every_example_is_listed() -> None:
    assert {example.stem for example in EXAMPLES} == set(WRITES)


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example_runs(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    printed, errors = capfd.readouterr()
    assert not errors
    assert len(printed.splitlines()) >= 3
    for name in WRITES[example.stem]:
        assert (tmp_path / name).stat().st_size > 0
