"""What features tell of users, in words for a person."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lobandits.beliefs import Prior

LEAST, SHOWN, LIFTED = 0.002, 8, 3  # share worth a line, features in words, arms of each
USERS_DRAWN, CELLS_DRAWN = 4000, 2_000_000


def feature_words(prior: "Prior") -> list[str]:
    r"""Return what features are worth, which of them matter, and for which arms.

    >>> import numpy as np
    >>> from lobandits.beliefs import Gaussian, Prior
    >>> from lobandits.beliefs.feature_effects import FeatureEffects
    >>> from lobandits.beliefs.features import Features
    >>> features = Features.of({"plan": ["free", "paid"] * 3})
    >>> single = np.array([[-0.5, 0.5], [0.0, 0.0]])
    >>> effects = FeatureEffects(features, np.zeros((1, 2)), single, 0.4, 0.1)
    >>> args = [1.0], [[1.0, 1.2]], [[0.5], [0.5]], [0.1, 0.1], [0.0], Gaussian(1.0)
    >>> print(*feature_words(Prior(["tea", "cake"], *args, features=effects)), sep="\n")
    features foretell a held-out user better by +0.4 +- 0.1 nats
    as the model sees it, the first choice then costs 0.0151 instead of 0.263
      plan: 42 % of what users differ by; free lowers tea (-0.71)
    """
    effects = prior.features
    if effects is None:
        return []
    worth = f"{effects.gain:+.2g} +- {effects.error:.2g} nats"
    if not effects.tell:
        return [f"your features tell nothing about who likes what ({worth} per held-out user)"]
    without, with_them = first_regrets(prior)
    lines = [
        f"features foretell a held-out user better by {worth}",
        f"as the model sees it, the first choice then costs {with_them:.3g} instead of "
        f"{without:.3g}",
    ]
    shares = prior.explained()
    ranked = sorted(shares, key=lambda name: -shares[name])
    told = [name for name in ranked[:SHOWN] if shares[name] >= LEAST]
    lines += [
        f"  {name}: {100 * shares[name]:.2g} % of what users differ by; {_for_arms(prior, name)}"
        for name in told
    ]
    silent = [name for name in ranked if name not in told]
    return [*lines, *([f"  hardly anything: {', '.join(silent)}"] if silent else [])]


def _for_arms(prior: "Prior", name: str) -> str:
    """Return which arms a feature lifts or lowers most: where it is true, or one spread higher."""
    assert prior.features is not None
    features = prior.features.features
    feature = features.all[features.names.index(name)]
    by = prior._by_column[:, features.places[name]]
    if feature.kind == "category":
        # of the value that moves some arm most, against the average user
        effects = by / feature.scale - (by @ (feature.centre / feature.scale))[:, None]
        value = int((abs(effects).max(axis=0) * feature.centre**0.5).argmax())
        what, effect = feature.values[value], effects[:, value]
    elif feature.kind == "boolean":
        what, effect = "true", by[:, 0] / feature.scale[0]
    else:
        what, effect = f"+{feature.scale[0]:.3g}", by[:, 0]
    order = abs(effect).argsort(kind="stable")[::-1][:LIFTED].tolist()
    shown = [a for a in order if abs(effect[a]) >= 0.1 * abs(effect).max() > 0]
    up = [f"{prior.arms[a]} ({effect[a]:+.2g})" for a in shown if effect[a] > 0]
    down = [f"{prior.arms[a]} ({effect[a]:+.2g})" for a in shown if effect[a] < 0]
    ends = [f"{word} {', '.join(arms)}" for word, arms in (("lifts", up), ("lowers", down)) if arms]
    return f"{what} {', '.join(ends)}"


def first_regrets(prior: "Prior") -> tuple[float, float]:
    """Return the regret of the first choice without features, and with them, by the model."""
    import numpy as np

    assert prior.features is not None
    rng = np.random.default_rng(0)
    n = max(100, min(USERS_DRAWN, CELLS_DRAWN // prior.n_arms))
    x = prior.features.features.draw(n, rng)
    _, means = prior.draw(n, rng, x)
    nothing = np.zeros((n, prior.n_arms))
    first = prior.posterior(nothing, nothing, x)[1].argmax(axis=1)
    best = means.max(axis=1)
    popular = means[:, int(prior.population_mean.argmax())]
    return float((best - popular).mean()), float((best - means[np.arange(n), first]).mean())
