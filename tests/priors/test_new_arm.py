"""A prior with an arm that no log has."""

import numpy as np
import pytest
from tests.priors.reference import random_prior

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.priors import Prior


def make_prior() -> Prior:
    return random_prior(3, 4, seed=0)


def test_like_another_arm() -> None:
    prior = make_prior()
    grown = prior.with_arm("new", like=prior.arms[1])
    assert grown.arms == (*prior.arms, "new")
    np.testing.assert_array_equal(grown.means[:, :-1], prior.means)
    np.testing.assert_array_equal(grown.means[:, -1], prior.means[:, 1])
    np.testing.assert_array_equal(grown.spread[:-1, :-1], prior.spread)
    # the user's own opinion of both differs by as much as there is of the old one
    gap = np.zeros(5)
    gap[[1, 4]] = 1, -1
    assert gap @ grown.spread @ gap == pytest.approx(prior.spread[1, 1])


def test_wide() -> None:
    prior = make_prior()
    grown = prior.with_arm("new")
    np.testing.assert_allclose(grown.means[:, -1], prior.means.mean(axis=1))
    assert not grown.spread[-1, :-1].any()
    assert grown.spread[-1, -1] > np.diag(prior.spread).mean()
    assert not grown.orders.precedes[:, -1].any()
    assert not grown.orders.precedes[:, :, -1].any()


@pytest.mark.parametrize("like", [None, "arm 1"])
def test_users_who_never_tried_it_are_seen_as_before(like: str | None) -> None:
    """A scale is around the average of all arms, which one more may move a little."""
    prior = make_prior()
    grown = prior.with_arm("new", like)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, (6, 4))
    sums = rng.standard_normal((6, 4)) * counts
    more = np.zeros((6, 1))
    chances, means, _ = prior.posterior(counts, sums)
    wider = grown.posterior(np.hstack([counts, more]), np.hstack([sums, more]))
    near = 1e-9 if like is None else 0.1
    np.testing.assert_allclose(wider[0], chances, atol=near)
    np.testing.assert_allclose(wider[1][:, :-1], means, atol=near)
    if like:
        np.testing.assert_allclose(wider[1][:, -1], wider[1][:, 1], atol=1e-9)


def test_policies_take_it() -> None:
    grown = make_prior().with_arm("new", like="arm 0")
    for policy in (lob.LobBayes(grown), lob.MixTS(grown), lob.Popular(grown)):
        assert policy.choose(policy.start(3), rng=0).shape == (3,)


def test_names_must_be_new_and_known() -> None:
    with pytest.raises(LobInputError, match="there is an arm 'arm 1' already"):
        make_prior().with_arm("arm 1")
    with pytest.raises(LobInputError, match="'none'"):
        make_prior().with_arm("new", like="none")
