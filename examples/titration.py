"""Find each patient's dose, with doses that are not allowed yet.

The best dose lies in the middle: too little does not help, too much harms. Where the best one
lies depends on the patient's (unknown) type, which is an order of the doses; how much a patient
feels of it is personal, so the numbers of others are of no use. For safety a dose may only rise
by one step above what the patient has had. Prints the doses given, and writes titration.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import lobandits as lob

DOSES = ["0 mg", "5 mg", "10 mg", "20 mg", "40 mg", "80 mg"]
N_PATIENTS, VISITS, SIGMA = 400, 40, 2.0


def main() -> None:
    rng = np.random.default_rng(0)
    orders = lob.LatentOrders.from_means([benefit(peak) for peak in range(6)], arms=DOSES)
    print(orders, end="\n\n")
    peaks = rng.integers(6, size=N_PATIENTS)
    scales = rng.uniform(1.0, 3.0, size=(N_PATIENTS, 1))
    means = rng.normal(5.0, 2.0, size=(N_PATIENTS, 1)) + scales * [benefit(p) for p in peaks]

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for policy in (lob.UCB(6, SIGMA, arms=tuple(DOSES)), lob.LobIDS(orders, SIGMA)):
        doses = treat(policy, means, rng)
        right = (doses == peaks[:, None]).mean(axis=0)
        all_visits, last = right.mean(), right[-10:].mean()
        print(f"{policy.name:6} gives the best dose at {all_visits:.0%} of all visits", end="")
        print(f", and at {last:.0%} of the last ten")
        axes.plot(np.arange(1, VISITS + 1), right, label=policy.name)
    axes.set(xlabel="visit", ylabel="patients on their best dose", ylim=(0, 1))
    axes.legend(frameon=False)
    figure.savefig("titration.png", dpi=150)


def benefit(peak: int) -> NDArray[np.float64]:
    """Return the benefit of each dose: it falls with the steps away, a bit faster upwards."""
    steps = np.arange(6) - peak
    return np.where(steps > 0, -1.2 * steps, steps * 1.0)


def treat(
    policy: lob.Policy, means: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the dose of every patient at every visit, (n_patients, n_visits)."""
    state = policy.start(N_PATIENTS)
    highest = np.zeros(N_PATIENTS, np.int64)
    doses = np.empty((N_PATIENTS, VISITS), np.int64)
    for visit in range(VISITS):
        for reached in range(len(DOSES)):
            patients = np.flatnonzero(highest == reached)
            if len(patients):
                doses[patients, visit] = choose_up_to(policy, state, patients, reached + 1, rng)
        rewards = rng.normal(means[np.arange(N_PATIENTS), doses[:, visit]], SIGMA)
        policy.record(state, doses[:, visit], rewards)
        highest = np.maximum(highest, doses[:, visit])
    return doses


def choose_up_to(
    policy: lob.Policy,
    state: lob.State,
    patients: NDArray[np.int64],
    highest: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return doses of at most ``highest``."""
    allowed = np.arange(len(DOSES)) <= highest
    return policy.choose(state.take(patients), rng, allowed)


if __name__ == "__main__":
    main()
