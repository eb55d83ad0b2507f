"""Beyond the paper: users without states, whose means are one Gaussian; orders should not win."""

from lobandits.paper.claims import NO_VARIANTS, Claim, Estimate, estimate, for_each
from lobandits.paper.drawing import Canvas, draw_regret
from lobandits.paper.experiment import Experiment, Sweep
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import TS_BY_ARM, policy_title

POLICIES = ("ucb", "toparms", "ts", TS_BY_ARM, "mts", "mixts", "lobts", "lobids")
WORK = (
    Sweep(
        environment="gaussian",
        axes={"hold_out": (0.5,)},
        fixed={"n_states": 60, "alpha": 1.0, "sigma": 1.0},
        policies=POLICIES,
        horizon=500,
        users={"default": 20, "full": 100},
    ),
)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw one panel."""
    draw_regret(canvas, {"users held out": records.at()}, POLICIES, columns=1)


def _orders_do_not_win(records: Records) -> list[Estimate]:
    record = records.at()
    return [
        estimate(
            f"{policy_title(lob)} minus MixTS", record.total(lob) - record.total("mixts"), record
        )
        for lob in ("lobts", "lobids")
    ]


CLAIMS = (
    Claim(
        id="orders-do-not-win-without-states",
        where="not in the paper",
        words="Where users have no states, lobTS and LobIDS have more regret than MixTS, which "
        "knows the Gaussian.",
        statistic="regret of lobTS and LobIDS minus regret of MixTS, at T = 500",
        test=for_each(NO_VARIANTS, _orders_do_not_win),
    ),
)

EXPERIMENT = Experiment(
    name="one-gaussian",
    place="Beyond the paper",
    title="Users without states: one Gaussian, generated",
    note="19 arms; half of 1000 generated users teach (60 orders, a prior), others play. sigma = 1."
    " Here are no orders to find, unlike in generated ratings with planted orders.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
