"""Latent order bandits: cold-start decisions from preference orders.

Names load on first use, so that ``import lobandits`` is quick and compiles nothing.
"""

<<<<<<< HEAD
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lobandits.errors import LobError, LobInputError, LobWarning

if TYPE_CHECKING:
    from lobandits.learning import (
        GeneratedRatings,
        KendallKMeans,
        MovieLensRatings,
        OrderModel,
        RewardTable,
        exact_orders,
        learn_orders,
        load_movielens,
        make_ratings,
        reward_table,
    )
    from lobandits.orders import LatentOrders, PartialOrder, UserOrders
    from lobandits.policies import (
        MTS,
        MUCB,
        POLICIES,
        TS,
        UCB,
        Agent,
        LobBayes,
        LobIDS,
        LobIMED,
        LobTS,
        LobUCB,
        MixTS,
        Policy,
        Popular,
        RelativeLobTS,
        State,
        TopArmsUCB,
        duels_from_rewards,
        make_policy,
    )
    from lobandits.projection import project, projection_losses
    from lobandits.selection import StatesChoice, choose_n_states
    from lobandits.service import Decision, DecisionService, open_store
    from lobandits.service.client import Client
    from lobandits.simulation import (
        FixedProblems,
        Problems,
        Result,
        SimulationError,
        SimulationInterrupted,
        Synthetic,
        simulate,
        simulate_duels,
    )
    from lobandits.simulation.movielens import MovieLens
    from lobandits.theory import (
        lobucb_regret_bound,
        regret_lower_bound,
        samples_for_exact_orders,
        similar_order_probability,
        toparms_regret_bound,
    )

__version__ = "0.1.0"

_HOME_OF = {
    name: f"lobandits.{home}"
    for home, names in {
        "learning": """
            GeneratedRatings KendallKMeans MovieLensRatings OrderModel RewardTable exact_orders
            learn_orders load_movielens make_ratings reward_table
        """,
        "orders": "LatentOrders PartialOrder UserOrders",
        "policies": """
            MTS MUCB POLICIES TS UCB Agent LobBayes LobIDS LobIMED LobTS LobUCB MixTS Policy
            Popular RelativeLobTS State TopArmsUCB duels_from_rewards make_policy
        """,
        "projection": "project projection_losses",
        "selection": "StatesChoice choose_n_states",
        "service": "Decision DecisionService open_store",
        "service.client": "Client",
        "simulation": """
            FixedProblems Problems Result SimulationError SimulationInterrupted
            Synthetic simulate simulate_duels
        """,
        "simulation.movielens": "MovieLens",
        "theory": """
            lobucb_regret_bound regret_lower_bound samples_for_exact_orders
            similar_order_probability toparms_regret_bound
        """,
    }.items()
    for name in names.split()
}

__all__ = [
    "MTS",
    "MUCB",
    "POLICIES",
    "TS",
    "UCB",
    "Agent",
    "Client",
    "Decision",
    "DecisionService",
    "FixedProblems",
    "GeneratedRatings",
    "KendallKMeans",
    "LatentOrders",
    "LobBayes",
    "LobError",
    "LobIDS",
    "LobIMED",
    "LobInputError",
    "LobTS",
    "LobUCB",
    "LobWarning",
    "MixTS",
    "MovieLens",
    "MovieLensRatings",
    "OrderModel",
    "PartialOrder",
    "Policy",
    "Popular",
    "Problems",
    "RelativeLobTS",
    "Result",
    "RewardTable",
    "SimulationError",
    "SimulationInterrupted",
    "State",
    "StatesChoice",
    "Synthetic",
    "TopArmsUCB",
    "UserOrders",
    "choose_n_states",
    "duels_from_rewards",
    "exact_orders",
    "learn_orders",
    "load_movielens",
    "lobucb_regret_bound",
    "make_policy",
    "make_ratings",
    "open_store",
    "project",
    "projection_losses",
    "regret_lower_bound",
    "reward_table",
    "samples_for_exact_orders",
    "similar_order_probability",
    "simulate",
    "simulate_duels",
    "toparms_regret_bound",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'lobandits' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
=======
from lobandits._lazy import lazy_names

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
>>>>>>> orders
