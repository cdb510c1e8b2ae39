"""Decisions that can be made again, decisions of others, tickets that can be read, and bandits that grow."""

import numpy as np
import pytest

import gbose

LEARNERS = [info.name for info in gbose.learners()]


def trained(spec, rng, rounds=60, dim=3, round_features=0, **options):
    bandit = gbose.Bandit(spec, dim=dim, seed=5, **options)
    for _ in range(rounds):
        x = rng.normal(size=(4, dim))
        round = rng.normal(size=round_features) if round_features else None
        decision = bandit.decide(x, round)
        bandit.learn(decision.ticket, x[decision.arm].sum() + rng.normal())
    return bandit


@pytest.mark.parametrize("name", LEARNERS)
def test_decide_at_is_the_decision_of_a_copy(name, rng):
    bandit = trained(name, rng)
    state, x = bandit.save(), rng.normal(size=(5, 3))
    copy = gbose.load(state)
    copy.stream(9)
    for number in range(4):
        there, here = copy.decide(x), bandit.decide_at(x, stream=9, number=number)
        assert here.ticket == there.ticket and here.arm == there.arm and here.draws == there.draws
        assert (here.pmf == there.pmf).all()
    assert bandit.save() == state


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "action-ts"])
def test_ticket_for_our_own_decision(name, rng):
    """Learning it is learning the decision itself."""
    bandit = trained(name, rng, floor=0.2)
    x = rng.normal(size=(4, 3))
    decision = bandit.decide(x)
    ticket = bandit.ticket_for(x, decision.pmf, decision.arm)
    one, two = gbose.load(bandit.save()), gbose.load(bandit.save())
    one.learn(decision.ticket, 0.7)
    two.learn(ticket, 0.7)
    assert (one.coef == two.coef).all()
    ours, theirs = gbose.read_ticket(decision), gbose.read_ticket(ticket)
    assert ours.number == bandit.decisions - 1 and theirs.number is None
    assert ours._replace(number=None) == theirs._replace(stream=ours.stream)
    assert (theirs.dim, theirs.n_arms, theirs.arm, theirs.probability) == (3, 4, decision.arm, decision.probability)


def test_features_of_the_round(rng):
    bandit = trained("gbose-auto:round=2", rng, round_features=2)
    x, round = rng.normal(size=(6, 4, 3)), rng.normal(size=(6, 2))
    choices = bandit.decide_many(x, round, stream=3, first=10)
    for t, choice in enumerate(choices):
        one = bandit.decide_at(x[t], round[t], stream=3, number=10 + t)
        assert one.arm == choice.arm and one.ticket == choice.ticket
    bandit.learn(bandit.ticket_for(x[0], [0.1, 0.2, 0.3, 0.4], 2, round[0]), 1.0)
    for use in [
        lambda: bandit.decide_at(x[0], stream=3, number=0),
        lambda: bandit.ticket_for(x[0], [0.25] * 4, 1),
        lambda: bandit.decide_many(x),
        lambda: bandit.decide_many(x, round[:5]),
        lambda: gbose.Bandit("gbose", dim=3).decide_many(x, round),
    ]:
        with pytest.raises(gbose.Error, match="round"):
            use()


def test_draws_of_many_decisions(rng):
    bandit = trained("lin-ts:draws=50,gamma=5", rng)
    choices = bandit.decide_many(rng.normal(size=(20, 4, 3)))
    assert set(choices.draws) <= {0, 50} and 50 in choices.draws
    assert [d.draws for d in choices] == choices.draws.tolist()


def test_growing(rng):
    bandit = trained("lin-ucb:lambda=2.5", rng)
    wide = bandit.grow(5)
    x = rng.normal(size=(4, 3))
    padded = np.hstack([x, np.zeros((4, 2))])
    assert wide.dim == 5 and wide.rounds == bandit.rounds and (wide.coef == [*bandit.coef, 0, 0]).all()
    assert wide.decide(padded).arm == bandit.decide(x).arm
    with pytest.raises(gbose.Error):
        bandit.grow(2)


def test_a_seed_of_its_own():
    """Bandits that are given no seed do not explore in lockstep. Two of 64 bits are equal once in 2 ** 63 times."""
    one, two = gbose.Bandit("gbose", dim=2), gbose.Bandit("gbose", dim=2)
    assert one.spec != two.spec and one.spec.startswith("gbose:seed=")
    assert gbose.Bandit("gbose:seed=3", dim=2).spec == "gbose:seed=3"
    assert gbose.Bandit("gbose", dim=2, seed=1).spec == "gbose"


def test_errors_say_what_is_wrong(rng):
    bandit = gbose.Bandit("gbose", dim=3, seed=1)
    x = rng.normal(size=(4, 3))
    state = bandit.save()
    x[2, 1] = np.nan
    for use in [lambda: bandit.decide(x), lambda: bandit.decide_at(x, stream=0, number=0)]:
        with pytest.raises(gbose.Error, match="arm 2.*feature 1") as caught:
            use()
        assert caught.value.name == "ENUMERIC"
    x[2, 1] = 0
    ticket = bandit.ticket_for(x, [0.5, 0.5, 0, 0], 1)
    with pytest.raises(gbose.Error, match="reward"):
        bandit.learn(ticket, np.inf)
    for pmf, arm in [([0.5, 0.4, 0, 0], 1), ([0.5, 0.5, 0, 0], 2), ([1.5, -0.5, 0, 0], 0)]:
        with pytest.raises(gbose.Error) as caught:
            bandit.ticket_for(x, pmf, arm)
        assert caught.value.name == "EPMF"
    for use in [
        lambda: bandit.ticket_for(x, [0.5, 0.5], 1),
        lambda: bandit.ticket_for(x, [0.25] * 4, 4),
        lambda: bandit.ticket_for(x[:, :2], [0.25] * 4, 1),
        lambda: bandit.decide_at(x, stream=2**32, number=0),
        lambda: bandit.decide_at(x, stream=0, number=2**56),
        lambda: gbose.read_ticket(ticket[:-8]),
        lambda: gbose.read_ticket(b""),
    ]:
        with pytest.raises(gbose.Error):
            use()
    for use in [lambda: bandit.ticket_for(x), lambda: bandit.decide_at(stream=0, number=0), lambda: gbose.read_ticket(3)]:
        with pytest.raises(TypeError):
            use()
    assert bandit.save() == state


def test_a_schema_in_all_of_them():
    schema = gbose.Schema("action.id category a, b, c\nuser.x number\narm = 1*id id*x")
    bandit = gbose.Bandit("gbose", schema=schema, seed=2)
    arms, user = [{"id": "a"}, {"id": "b"}, {"id": "c"}], {"x": 0.5}
    rows = schema.encode(arms, user=user)[0]
    assert bandit.decide_at(rows, stream=1, number=4).ticket == bandit.decide_at(actions=arms, user=user, stream=1, number=4).ticket
    pmf = [0.2, 0.3, 0.5]
    assert bandit.ticket_for(rows, pmf, 1) == bandit.ticket_for(pmf=pmf, arm=1, actions=arms, user=user)
