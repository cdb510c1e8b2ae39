"""Properties that hold for any input, by hypothesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gbose

NAMES = [info.name for info in gbose.learners()]
finite = st.floats(-1e6, 1e6, allow_nan=False)
names = st.sampled_from(NAMES)


@st.composite
def rounds(draw, most_arms=6, most_dim=4):
    dim = draw(st.integers(1, most_dim))
    n = draw(st.integers(1, most_arms))
    return draw(hnp.arrays(np.float64, (n, dim), elements=finite))


@given(names, rounds(), st.integers(0, 2**64 - 1))
def test_a_decision_is_a_draw_from_its_pmf(name, contexts, seed):
    decision = gbose.Bandit(name, dim=contexts.shape[1], seed=seed).decide(contexts)
    assert (decision.pmf >= 0).all() and decision.pmf.sum() == pytest.approx(1, abs=1e-9)
    assert decision.probability == decision.pmf[decision.arm] > 0


@given(names, rounds(), st.lists(st.tuples(st.integers(0, 2**32), finite), min_size=1, max_size=8))
def test_learning_is_the_same_from_copied_tickets(name, contexts, rewards):
    one, two = (gbose.Bandit(name, dim=contexts.shape[1], seed=1) for _ in range(2))
    for salt, reward in rewards:
        rows = contexts + np.random.default_rng(salt).normal(size=contexts.shape)
        ticket = one.decide(rows).ticket
        one.learn(ticket, reward)
        two.learn(memoryview(bytearray(ticket)), reward)
    assert (one.coef == two.coef).all()
    assert np.isfinite(one.coef).all()
    assert one.rounds == two.rounds == len(rewards)


def forms(contexts):
    """The same numbers in other layouts and types."""
    yield contexts.tolist()
    yield np.asfortranarray(contexts)
    yield contexts.astype(">f8")
    yield contexts.astype(np.longdouble)
    yield np.repeat(np.repeat(contexts, 2, 0), 3, 1)[::2, ::3]
    yield contexts[::-1].copy()[::-1]
    frozen = contexts.copy()
    frozen.flags.writeable = False
    yield frozen
    raw = bytearray(1 + contexts.nbytes)
    raw[1:] = contexts.tobytes()
    yield np.frombuffer(raw, np.float64, contexts.size, offset=1).reshape(contexts.shape)  # not aligned
    yield np.ma.array(contexts)


@given(rounds())
def test_layout_and_type_do_not_matter(contexts):
    def ticket(x):
        return gbose.Bandit("uniform", dim=contexts.shape[1], seed=3).decide(x).ticket

    expected = ticket(contexts)
    for form in forms(contexts):
        assert ticket(form) == expected


@given(hnp.arrays(np.float32, (3, 2), elements=st.floats(-100, 100, width=32)), st.booleans())
def test_other_types_are_converted(contexts, whole):
    x = contexts.astype(np.int32) if whole else contexts
    same = gbose.Bandit(dim=2, seed=1).decide(x).ticket
    assert same == gbose.Bandit(dim=2, seed=1).decide(x.astype(np.float64)).ticket


@given(st.binary(max_size=400))
def test_any_bytes_are_refused_as_ticket_and_state(data):
    bandit = gbose.Bandit("gbose", dim=2)
    with pytest.raises(gbose.Error):
        bandit.learn(data, 1.0)
    with pytest.raises(gbose.Error):
        gbose.load(data)
    assert bandit.rounds == 0


@given(names, st.data())
def test_any_change_to_a_ticket_or_state_is_noticed(name, data):
    bandit = gbose.Bandit(name, dim=2, seed=1)
    ticket, state = bandit.decide(np.eye(2)).ticket, bandit.save()
    for good, use in [(ticket, lambda b: bandit.learn(b, 1.0)), (state, gbose.load)]:
        at = data.draw(st.integers(0, len(good) - 1))
        bad = bytearray(good)
        bad[at] ^= data.draw(st.integers(1, 255))
        with pytest.raises(gbose.Error):
            use(bytes(bad))
    assert bandit.save() == state


@given(names, rounds(), st.integers(0, 5))
def test_saved_and_loaded_is_the_same(name, contexts, n):
    bandit = gbose.Bandit(name, dim=contexts.shape[1], seed=2)
    for k in range(n):
        bandit.learn(bandit.decide(contexts + k).ticket, float(k))
    twin = gbose.load(bandit.save())
    assert twin.spec == bandit.spec and (twin.coef == bandit.coef).all()
    assert twin.decide(contexts).ticket == bandit.decide(contexts).ticket


@given(names, hnp.arrays(np.float64, (3, 3, 2), elements=finite), st.integers(0, 2**32 - 1), st.integers(0, 2**40))
def test_many_rounds_can_be_split_anywhere(name, contexts, stream, first):
    bandit = gbose.Bandit(name, dim=2, seed=1)
    whole = bandit.decide_many(contexts, stream=stream, first=first)
    parts = [bandit.decide_many(contexts[k : k + 1], stream=stream, first=first + k) for k in range(3)]
    assert whole.tickets == [part.tickets[0] for part in parts]
