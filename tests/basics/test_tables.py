"""Values that are tables: pandas frames, and HTML in notebooks."""

import pandas as pd
import pytest

import lobandits as lob

ENV = lob.Synthetic(n_arms=3, n_states=2)


def test_results_are_tables() -> None:
    result = lob.simulate(ENV, ["ucb", "ts"], horizon=5, n_users=8, progress=False)
    for table in (result, result.summary()):
        frame = table.to_pandas()
        assert frame["policy"].tolist() == ["ucb", "ts"]
        assert frame["regret"].tolist() == [row["regret"] for row in result.summary().rows]
        assert "<th>regret</th>" in table._repr_html_()
        assert "<td>ucb</td>" in table._repr_html_()


def test_models_and_priors_are_tables() -> None:
    logs = {"user": [1, 1, 2, 2, 3, 3], "arm": ["x", "<y>"] * 3, "reward": [4, 1, 3, 2, 2, 5]}
    model = lob.learn(pd.DataFrame(logs), n_states=2)
    frame = model.to_pandas()
    assert frame["users"].tolist() == model.sizes.tolist()
    assert frame[["<y>", "x"]].to_numpy().tolist() == model.prior.state_means.tolist()
    assert "&lt;y&gt;" in model._repr_html_()
    assert "<y>" not in model._repr_html_()
    prior = lob.Prior.from_orders(model.orders)
    assert prior.to_pandas()["share"].sum() == pytest.approx(1.0)
    assert prior.to_pandas().columns.tolist() == ["state", "share", "scale", *prior.arms]


def test_evaluations_are_tables() -> None:
    logs = lob.make_ratings(n_users=30, n_arms=3, n_states=2, ratings_per_user=10).table
    report = lob.evaluate(
        logs, ["popular", "ts"], "userId", "genre", "rating", horizon=5, n_states=1, players=8
    )
    frame = report.to_pandas()
    assert frame["policy"].tolist() == list(report.policies) * len(report.points)
    assert f"<caption>{report.verdict.split()[0]}" in report._repr_html_()


def test_mistyped_names_are_answered_with_the_closest() -> None:
    with pytest.raises(AttributeError, match="no attribute 'LobTs'; did you mean 'LobTS'"):
        lob.LobTs  # type: ignore[attr-defined]  # noqa: B018
