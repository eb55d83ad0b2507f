"""What policies read of sums that fade: kept up as rewards come and as time passes.

Of a user who has not changed it is the sums of all time; of one who has, the faded ones as they are
now. Reading anew and carrying along give the same.

Kernels take it all as five arrays: the ledger (`faded_sums`), the facts of every user, with the
columns below, and the counts, sums and carries that policies read.
"""

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import kernel, lean, part
from lobandits.policies.change import doubt, has_changed, judge
from lobandits.policies.faded_sums import (
    CARRY,
    COUNT,
    DOUBT,
    SQUARES,
    SUM,
    WEIGHT,
    add_count,
    add_faded,
    faded,
    place,
)
from lobandits.policies.rewards import add_exactly

# Of every user: the half-life; the doubt above which it has changed (below 0: it has); the time of
# its latest reward, and the time at which what is read was read; whether it has changed, 1 or 0.
HALF_LIFE, LIMIT, CLOCK, READ_AT, CHANGED = range(5)
FACTS = 5
NOTHING = 400.0  # half-lives after which a reward counts for nothing: its weight would be 1e-120
LEAST = 2.0**-NOTHING
CALM, TURNED = -1.0, -2.0  # a user has not changed, nor had before; the one or the other


@lean
def tally(
    ledger: FloatArray,
    facts: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    carries: FloatArray,
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
    calm = True
    for i in range(len(users)):
        was[i] = facts[users[i], CHANGED] > 0.0
    for i in range(len(users)):
        u = users[i]
        fact = facts[u]
        if by_plays:
            times[i] = fact[CLOCK] + 1.0
        if times[i] > fact[CLOCK] or plays_of(ledger[u]) == 0.0:
            fact[CLOCK] = times[i]
        if not count(ledger, facts, counts, sums, carries, u, arms[i], rewards[i], times[i]):
            calm = False
    return calm


@lean
def tally_play(
    a: int,
    reward: float,
    ledger: FloatArray,
    facts: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    carries: FloatArray,
) -> float:
    """Add a reward of the one user there is, a play after the one before, as `tally` does.

    Return `CALM` or `TURNED`. Of a user who has changed before and still has, what is read is
    brought along; return the factor by which it faded, as all else that is kept must.
    """
    fact = facts[0]
    was = fact[CHANGED]
    fact[CLOCK] += 1.0
    if count(ledger, facts, counts, sums, carries, 0, a, reward, fact[CLOCK]):
        return CALM
    if fact[CHANGED] != was:
        return TURNED
    if plays_of(ledger[0]) == 1.0:  # the first: there is nothing to fade
        fact[READ_AT] = fact[CLOCK]
    factor: float = 2.0 ** ((fact[READ_AT] - fact[CLOCK]) / fact[HALF_LIFE])
    fade_counts(counts, sums, carries, 0, factor)
    fact[READ_AT] = fact[CLOCK]
    counts[0, a] += 1.0
    sums[0, a], carries[0, a] = add_exactly(sums[0, a], carries[0, a], reward)
    return factor


@part
def plays_of(cells: FloatArray) -> float:
    """Return how many rewards a user's arms had."""
    plays = 0.0
    for a in range(cells.shape[0]):
        plays += cells[a, COUNT]
    return plays


@part
def count(
    ledger: FloatArray,
    facts: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    carries: FloatArray,
    u: int,
    a: int,
    reward: float,
    time: float,
) -> bool:
    """Add a reward to the sums, and judge; write what is read of who has not changed.

    Return whether that is the user, and was before.
    """
    calm, cell, fact = True, ledger[u, a], facts[u]
    add_count(cell, 1.0, reward, 0.0)
    epoch, g = place(time, fact[HALF_LIFE])
    add_faded(cell, epoch, g, g * reward, g * g)
    cell[DOUBT] = doubt(cell)
    if fact[CHANGED] > 0.0 or cell[DOUBT] > fact[LIMIT]:
        fact[CHANGED] = has_changed(ledger[u], fact[LIMIT])
        calm = False
    if fact[CHANGED] == 0.0:
        counts[u, a], sums[u, a], carries[u, a] = cell[COUNT], cell[SUM], cell[CARRY]
    return calm


@lean
def settle(
    ledger: FloatArray,
    facts: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    carries: FloatArray,
) -> None:
    """Judge all users anew, but those who count as changed whatever the doubts, and read them."""
    for u in range(facts.shape[0]):
        limit = facts[u, LIMIT]
        facts[u, CHANGED] = limit < 0.0 or judge(ledger[u], limit)
        read_user(ledger, facts, counts, sums, carries, u)


@lean
def read(
    ledger: FloatArray,
    facts: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    carries: FloatArray,
    users: IntArray,
) -> None:
    """Write what is read of users."""
    for u in users:
        read_user(ledger, facts, counts, sums, carries, u)


@part
def read_user(
    ledger: FloatArray,
    facts: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    carries: FloatArray,
    u: int,
) -> None:
    """Write what is read of a user: if it has changed, as it has faded by now; else, all time."""
    fact = facts[u]
    fact[READ_AT], halvings = fact[CLOCK], fact[CLOCK] / fact[HALF_LIFE]
    for a in range(counts.shape[1]):
        cell = ledger[u, a]
        if fact[CHANGED] > 0.0:
            counts[u, a], sums[u, a] = faded(cell, halvings, LEAST)
            carries[u, a] = 0.0
        else:
            counts[u, a], sums[u, a], carries[u, a] = cell[COUNT], cell[SUM], cell[CARRY]


@lean
def effective_numbers(
    ledger: FloatArray,
    facts: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    out: FloatArray,
) -> bool:
    """Write (sum of g)^2 / sum of g^2 of who has changed, else counts, and sums of equal means.

    Return whether anyone has changed.
    """
    anyone = False
    for u in range(facts.shape[0]):
        changed = facts[u, CHANGED] > 0.0
        anyone = anyone or changed
        for a in range(counts.shape[1]):
            out[0, u, a], out[1, u, a] = counts[u, a], sums[u, a]
            if changed and counts[u, a] > 0.0:
                cell = ledger[u, a]
                number = cell[WEIGHT] * cell[WEIGHT] / cell[SQUARES]
                out[0, u, a], out[1, u, a] = number, number * sums[u, a] / counts[u, a]
    return anyone


@kernel
def fade_users(
    arrays: tuple[FloatArray, ...], facts: FloatArray, users: IntArray, times: FloatArray
) -> None:
    """Multiply rows of users by 2^(-(time - then) / half-life), if they were read then."""
    for i in range(len(users)):
        fact = facts[users[i]]
        fade_rows(arrays, users[i], 2.0 ** ((fact[READ_AT] - times[i]) / fact[HALF_LIFE]))
        fact[READ_AT] = times[i]


@lean
def fade_rows(arrays: tuple[FloatArray, ...], u: int, factor: float) -> None:
    """Multiply a user's rows by a factor; the first arrays are counts, sums and carries."""
    fade_counts(arrays[0], arrays[1], arrays[2], u, factor)
    fade_others(arrays, 3, u, factor)


@lean
def fade_counts(
    counts: FloatArray, sums: FloatArray, carries: FloatArray, u: int, factor: float
) -> None:
    """Multiply what is read of a user by a factor; forget arms that weigh less than `LEAST`."""
    for a in range(counts.shape[1]):
        counts[u, a] *= factor
        if counts[u, a] < LEAST:  # so that none vanishes before the others
            counts[u, a] = sums[u, a] = carries[u, a] = 0.0
        else:
            sums[u, a] *= factor
            carries[u, a] *= factor


@lean
def fade_others(arrays: tuple[FloatArray, ...], first: int, u: int, factor: float) -> None:
    """Multiply a user's rows by a factor, from the first array on. O(numbers in these rows)."""
    for i in range(first, len(arrays)):
        rows = arrays[i]
        for j in range(rows.shape[1]):
            rows[u, j] = rows[u, j] * factor if factor > 0.0 else 0.0  # of infinity too


@kernel
def add_read(
    arrays: tuple[FloatArray, ...],
    ledger: FloatArray,
    facts: FloatArray,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray,
    some: IntArray,
) -> None:
    """Add rewards to what is read, which fades until then; a late one counts as it has faded.

    One that came `NOTHING` half-lives late is left out. O(numbers in a user's rows) for each.
    """
    counts, sums, carries = arrays[0], arrays[1], arrays[2]
    for i in some:
        u, a = users[i], arms[i]
        fact = facts[u]
        if plays_of(ledger[u]) == 1.0:  # the first: there is nothing to fade
            fact[READ_AT] = times[i]
        late = (fact[READ_AT] - times[i]) / fact[HALF_LIFE]
        if late >= NOTHING:
            continue
        if late < 0.0:
            fade_rows(arrays, u, 2.0**late)
            fact[READ_AT], late = times[i], 0.0
        g = 2.0**-late
        counts[u, a] += g
        sums[u, a], carries[u, a] = add_exactly(sums[u, a], carries[u, a], g * rewards[i])
