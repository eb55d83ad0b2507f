"""What policies read of sums that fade: kept up as rewards come and as time passes.

Of a user who has not changed it is the sums of all time; of one who has, the faded ones as they are
now. Reading anew and carrying along give the same.
"""

from typing import Any, NamedTuple

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import Plain, kernel, lean, part
from lobandits.policies.change import Verdict, doubt, has_changed
from lobandits.policies.faded_sums import STEP, Sums, add_cell, place
from lobandits.policies.rewards import add_exactly

CALM, SAME, CHANGED = 0, 1, 2  # the user has not changed; it has now; it had before


class Reading(NamedTuple):
    """What policies read of the sums, (n_users, n_arms) each, and when."""

    counts: Any  # of floats here
    sums: FloatArray
    carries: FloatArray
    read_at: FloatArray  # (n_users,)


@lean
def tally(
    state: Plain,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray,
    by_plays: bool,
    was: BoolArray,
) -> bool:
    """Add rewards to the sums of all time and to the faded ones, and judge; move the clocks.

    Write what is read of who has not changed, the times, if these are plays, and who was changed
    before. Return whether nobody is or was. O(1) for each reward of who has not changed.
    """
    kept, verdict, reading = Sums(*state[0]), Verdict(*state[1]), Reading(*state[2])
    half_life, clock = state[3], state[4]
    calm = True
    for i in range(len(users)):
        was[i] = verdict.changed[users[i]]
    for i in range(len(users)):
        u = users[i]
        if by_plays:
            times[i] = clock[u] + 1.0
        if times[i] > clock[u] or kept.counts[u].sum() == 0:
            clock[u] = times[i]
        if not count(kept, verdict, reading, u, arms[i], rewards[i], times[i], half_life[u]):
            calm = False
    return calm


@lean
def tally_play(state: Plain, arm: int, reward: float) -> int:
    """Add a reward of the one user there is, a play after the one before, as `tally` does.

    Return `CALM`, or else what the user was before. With few arrays to hand over, for agents.
    """
    kept, verdict, reading = Sums(*state[0]), Verdict(*state[1]), Reading(*state[2])
    half_life, clock = state[3], state[4]
    was = CHANGED if verdict.changed[0] else SAME
    clock[0] += 1.0
    calm = count(kept, verdict, reading, 0, arm, reward, clock[0], half_life[0])
    return CALM if calm else was


@part
def count(
    kept: Sums,
    verdict: Verdict,
    reading: Reading,
    u: int,
    a: int,
    reward: float,
    time: float,
    half_life: float,
) -> bool:
    """Add a reward to the sums, and judge; write what is read of who has not changed.

    Return whether that is the user, and was before.
    """
    calm = True
    kept.counts[u, a] += 1
    kept.sums[u, a], kept.carries[u, a] = add_exactly(kept.sums[u, a], kept.carries[u, a], reward)
    epoch, g = place(time, half_life)
    add_cell(kept, u, a, epoch, g, g * reward, g * g)
    verdict.doubts[u, a] = doubt(kept, u, a)
    if verdict.changed[u] or verdict.doubts[u, a] > verdict.limit[u]:
        verdict.changed[u] = has_changed(verdict, u)
        calm = False
    if not verdict.changed[u]:
        reading.counts[u, a] = kept.counts[u, a]
        reading.sums[u, a] = kept.sums[u, a]
        reading.carries[u, a] = kept.carries[u, a]
    return calm


@kernel
def read(
    kept: Sums,
    changed: BoolArray,
    half_life: FloatArray,
    clock: FloatArray,
    users: IntArray,
    least: float,
    out: Reading,
) -> None:
    """Write what is read of users: who has changed, as it has faded by now; of others, all time."""
    for u in users:
        out.read_at[u] = clock[u]
        for a in range(kept.counts.shape[1]):
            out.counts[u, a] = out.sums[u, a] = out.carries[u, a] = 0.0
            if not changed[u]:
                out.counts[u, a] = kept.counts[u, a]
                out.sums[u, a] = kept.sums[u, a]
                out.carries[u, a] = kept.carries[u, a]
                continue
            factor = 2.0 ** (STEP * kept.epochs[u, a] - clock[u] / half_life[u])
            if kept.weights[u, a] * factor >= least:
                out.counts[u, a] = kept.weights[u, a] * factor
                out.sums[u, a] = kept.weighted[u, a] * factor


@kernel
def fade(
    arrays: tuple[FloatArray, ...],
    clock: FloatArray,
    half_life: FloatArray,
    users: IntArray,
    times: FloatArray,
    least: float,
) -> None:
    """Set the clocks of users, and multiply their rows by 2^(-(time - clock) / half-life)."""
    for i in range(len(users)):
        u = users[i]
        fade_row(arrays, u, 2.0 ** ((clock[u] - times[i]) / half_life[u]), least)
        clock[u] = times[i]


@kernel
def fade_row(arrays: tuple[FloatArray, ...], u: int, factor: float, least: float) -> None:
    """Multiply a user's rows by a factor, and forget arms that weigh less than ``least``.

    The first arrays are counts, sums and carries. O(numbers in these rows).
    """
    counts, sums, carries = arrays[0], arrays[1], arrays[2]
    for rows in arrays:
        for j in range(rows.shape[1]):
            rows[u, j] = rows[u, j] * factor if factor > 0.0 else 0.0
    for a in range(counts.shape[1]):
        if counts[u, a] < least:  # so that none vanishes before the others
            counts[u, a] = sums[u, a] = carries[u, a] = 0.0


@kernel
def add_read(
    arrays: tuple[FloatArray, ...],
    totals: IntArray,
    clock: FloatArray,
    half_life: FloatArray,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray,
    some: IntArray,
    nothing: float,
) -> None:
    """Add rewards to what is read, which fades until then; a late one counts as it has faded.

    One that came ``nothing`` half-lives late is left out. O(numbers in a user's rows) for each.
    """
    counts, sums, carries = arrays[0], arrays[1], arrays[2]
    for i in some:
        u, a = users[i], arms[i]
        if totals[u].sum() == 1:  # the first: there is nothing to fade
            clock[u] = times[i]
        late = (clock[u] - times[i]) / half_life[u]
        if late >= nothing:
            continue
        if late < 0.0:
            fade_row(arrays, u, 2.0**late, 2.0**-nothing)
            clock[u], late = times[i], 0.0
        g = 2.0**-late
        counts[u, a] += g
        sums[u, a], carries[u, a] = add_exactly(sums[u, a], carries[u, a], g * rewards[i])
