"""The policies that the experiments run, and how figures and tables call them."""

from lobandits.experiments.parts import MUCB_TIES, TS_BY_ARM

UNSTRUCTURED = ("ucb", "ts")
"""They know nothing of a user before the first reward."""
LATENT_BANDITS = ("mucb", "mts")
"""They believe to know every state's means."""
PAPER_POLICIES = (*UNSTRUCTURED, *LATENT_BANDITS, "lobucb", "lobts")
TOP_ARMS = "toparms"
"""UCB on the arms that are best in some state: the baseline of the paper's appendix."""
FROM_LOGS = ("popular", "mixts", "lobbayes")
"""They know a prior, learned from the logs of other users."""
C_VALUES = {"c = sigma/2": 0.5, "c = 2 sigma": 2.0}
"""Beside the paper's c = sigma."""
MTS_BEST_FIRST = "mts(best_arms_first=True)"
"""mTS that plays each state's best arm once before it samples states."""
MTS_VARIANTS = {"": "mts", ", mTS best arms first": MTS_BEST_FIRST}
"""mTS with and without it, by what they add to the name of a claim's variant."""
LOBUCB_NARROW = "lobucb(radius=2.0)"
"""lobUCB with the radius of UCB, c sqrt(2 log t / N); its listing has 4."""
LOBUCB_NARROW_TENTH = "lobucb(refresh_every=10, radius=2.0)"
PROJECTING_EVERY = {"lobucb": "lobucb(refresh_every={})", "lobts": "lobts(project_every={})"}
"""Policies that may project every so many rounds only."""
LOBUCB_TENTH, LOBTS_TENTH = (name.format(10) for name in PROJECTING_EVERY.values())
"""As in the paper, latent-order policies project every tenth round on MovieLens."""
TITLES = {
    TS_BY_ARM: "TS, priors by arm",
    MUCB_TIES: "mUCB, ties anew",
    "popular": "Popular",
    "mixts": "MixTS",
    "lobimed": "LobIMED",
    "lobids": "LobIDS",
    "lobbayes": "LobBayes",
    "ucb": "UCB",
    "ts": "TS",
    "mucb": "mUCB",
    "mts": "mTS",
    "lobucb": "lobUCB",
    "lobts": "lobTS",
    "toparms": "top-arms UCB",
    LOBUCB_TENTH: "lobUCB",
    LOBTS_TENTH: "lobTS",
    MTS_BEST_FIRST: "mTS, best first",
    LOBUCB_NARROW: "lobUCB, narrow",
    LOBUCB_NARROW_TENTH: "lobUCB, narrow",
}
"""How policies are called in figures; on MovieLens all project every tenth round."""


def policy_title(label: str) -> str:
    """Return how a policy is called in figures and tables."""
    return TITLES.get(label, label)


def projecting_every(n: int, policy: str) -> str:
    """Return the policy that projects every ``n`` rounds, if it projects at all.

    Examples
    --------
    >>> projecting_every(10, "lobts"), projecting_every(1, "lobts"), projecting_every(10, "ts")
    ('lobts(project_every=10)', 'lobts', 'ts')
    """
    return PROJECTING_EVERY[policy].format(n) if policy in PROJECTING_EVERY and n > 1 else policy
