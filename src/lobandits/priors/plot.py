"""Draw a prior: the states' means, how users differ around them, and how common they are."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits.priors.prior import Prior

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 8  # states drawn, the most common first


def plot_prior(prior: Prior, ax: "Axes | None" = None) -> "Figure":
    """Draw each state's means as a line in a band of one standard deviation."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(max(6.0, 0.45 * prior.n_arms), 4.0), layout="constrained")
    figure = ax.get_figure()
    assert figure is not None
    order = np.argsort(-prior.population_mean, kind="stable")
    own = prior._covariances()[:, order, order] - prior.shift**2
    for s in np.argsort(-prior.shares, kind="stable")[:MOST]:
        mean, sd = prior.means[s, order], np.sqrt(own[s])
        label = f"state {s}: {100 * prior.shares[s]:.0f} %, scale {prior.scales[s]:.2g}"
        (line,) = ax.plot(mean, marker="o", markersize=3, label=label)
        ax.fill_between(
            np.arange(len(mean)), mean - sd, mean + sd, color=line.get_color(), alpha=0.15
        )
    ax.set_xticks(range(prior.n_arms), [prior.arms[a] for a in order], rotation=45, ha="right")
    ax.set_ylabel("mean reward")
    ax.legend(fontsize="small")
    return figure.figure if hasattr(figure, "figure") else figure  # type: ignore[return-value]
