"""Figure 4, Appendix B.3: regret where lobUCB and lobTS project every T_proj rounds only."""

from dataclasses import replace

from lobandits.paper.claims import Claim, Estimate, estimate, exactly, for_each
from lobandits.paper.drawing import Canvas, draw_final_regret
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.synthetic_task import AT_SIGMA, SIGMAS, sweep
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import (
    LATENT_BANDITS,
    PROJECTING_EVERY,
    TOP_ARMS,
    UNSTRUCTURED,
    policy_title,
    projecting_every,
)

EVERY = (1, 2, 5, 10, 20, 50)
"""T_proj."""
SHOWN = (*UNSTRUCTURED, TOP_ARMS, *LATENT_BANDITS, *PROJECTING_EVERY)
LINEAR = (0.5, 0.8)
"""Shares of T_proj from which on a speed-up may be called linear; the verdict hangs on it."""
WORK = (
    sweep(
        policies=(
            *(*UNSTRUCTURED, TOP_ARMS, *LATENT_BANDITS),
            *(projecting_every(n, policy) for policy in PROJECTING_EVERY for n in EVERY),
        ),
        task={"n_arms": 10, "n_states": 10, "q": 1.0},
    ),
)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw regret against T_proj; policies without it are level lines."""
    panels = canvas.panels(len(SIGMAS))
    for panel, sigma in zip(panels, SIGMAS, strict=True):
        samples = records.at(sigma=sigma).samples
        by_pace = {
            n: replace(
                records.at(sigma=sigma),
                samples={policy: samples[projecting_every(n, policy)] for policy in SHOWN},
            )
            for n in EVERY
        }
        draw_final_regret(panel, by_pace, SHOWN, "rounds between projections $T_{proj}$")
        for line in panel.get_lines()[: -len(PROJECTING_EVERY)]:
            line.set_marker("")
        panel.set(xscale="log", title=f"$\\sigma={sigma:g}$")
        panel.set_xticks(EVERY, [str(n) for n in EVERY])
        panel.minorticks_off()


def _harmless(records: Records, sigma: float, policy: str) -> list[Estimate]:
    record = records.at(sigma=sigma)
    more = 1.1 * record.total(policy) - record.total(projecting_every(10, policy))
    return [estimate("110% of the regret at T_proj = 1 minus that at 10", more)]


def _linear(records: Records, sigma: float, share: float) -> list[Estimate]:
    seconds = records.at(sigma=sigma).cpu_seconds
    ratio = sum(seconds["lobts"]) / max(sum(seconds[projecting_every(10, "lobts")]), 1e-9)
    what = f"speed-up of lobTS, {ratio:.1f}, minus {share:.0%} of 10"
    return [exactly(what, ratio - share * 10)]


CLAIMS = (
    Claim(
        id="projecting-every-10-rounds-is-harmless",
        where="Section 3.3, last but one sentence; Appendix B.3",
        words="To project only every tenth round hurts neither lobUCB nor lobTS.",
        statistic="110% of the regret at T_proj = 1 minus the regret at T_proj = 10",
        test=for_each(
            {
                f"{policy_title(policy)}, {name}": (*sigma, policy)
                for name, sigma in AT_SIGMA.items()
                for policy in PROJECTING_EVERY
            },
            _harmless,
        ),
    ),
    Claim(
        id="projecting-less-is-linearly-faster",
        where="Section 3.3, last sentence; Appendix B.3",
        words="To project every T_proj rounds speeds lobTS up by a factor of T_proj.",
        statistic="processor time of lobTS at T_proj = 1 over that at 10, minus 5 and 8",
        test=for_each(
            {
                f"{name}, at least {share:.0%} of T_proj": (*sigma, share)
                for name, sigma in AT_SIGMA.items()
                for share in LINEAR
            },
            _linear,
        ),
        timed=True,
    ),
)

EXPERIMENT = Experiment(
    name="figure-4",
    place="Figure 4 (Appendix B.3)",
    title="Synthetic: regret against the rounds between projections, k = m = 10",
    note="lobUCB finds its active arms, and lobTS its probabilities, anew every T_proj rounds.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
