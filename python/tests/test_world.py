"""World: rounds by hand."""

import numpy as np
import pytest

import gbose


def test_rounds():
    world = gbose.World("paper:arms=10,dim=2,shift=log-sine", seed=4, repetition=3)
    assert (world.dim, world.max_arms, world.rounds) == (18, 10, 0)
    first = world.next()
    assert first.contexts.shape == (10, 18) and first.means.shape == (10,)
    assert (first.contexts[0] == 0).all() and first.means[0] == 0
    reward, regret = world.play(2)
    assert reward == pytest.approx(first.means[2] + first.shift + first.noise)
    assert regret == pytest.approx(first.means.max() - first.means[2])
    kept = first.contexts.copy()
    second = world.next()
    assert world.rounds == 2
    assert (first.contexts == kept).all() and (second.contexts != kept).any()
    again = gbose.World("paper", seed=4, repetition=3, arms=10, dim=2, shift="log-sine").next()
    assert (again.contexts == kept).all() and again[2:] == first[2:]
    assert "rounds=2" in repr(world)


def test_means_are_linear_in_contexts():
    """b'mu with one mu for all rounds: least squares finds it, and explains every mean."""
    world = gbose.World("gallery", seed=2)
    rounds = [world.next() for _ in range(100)]
    contexts = np.concatenate([r.contexts for r in rounds])
    means = np.concatenate([r.means for r in rounds])
    mu = np.linalg.lstsq(contexts, means, rcond=None)[0]
    np.testing.assert_allclose(contexts @ mu, means, atol=1e-9)
    assert np.abs(means).max() > 0.1


def test_rounds_of_different_sizes():
    world = gbose.World("heartsteps")
    assert {len(world.next().contexts) for _ in range(50)} == {1, 2}


@pytest.mark.parametrize(
    "spec, text", [("papper", "did you mean 'paper'"), ("paper:arms=1", "arms"), ("p\0", "zero byte")]
)
def test_wrong_worlds(spec, text):
    with pytest.raises(gbose.Error, match=text):
        gbose.World(spec)


def test_wrong_calls():
    world = gbose.World("paper")
    with pytest.raises(gbose.Error, match="call next"):
        world.play(0)
    world.next()
    for arm in (-1, 10, 2**63):
        with pytest.raises(gbose.Error, match="arm must be"):
            world.play(arm)
    for arm in ("one", 1.0, None):
        with pytest.raises(TypeError):
            world.play(arm)
    with pytest.raises(gbose.Error, match="seed must be"):
        gbose.World("paper", seed=-1)
    with pytest.raises(TypeError):
        gbose.World(5)


def test_tables():
    for table in (gbose.learners(), gbose.worlds()):
        assert len(table) >= 5
        for info in table:
            assert info.name in str(info) and info.summary
            for option in info.options:
                assert option.help and option.accepts and option.name in str(info)
    for info in gbose.learners():
        defaults = {option.name: option.default for option in info.options if option.name != "seed"}
        assert gbose.Bandit(info.name, dim=2, seed=1, **defaults).spec == info.name
    for info in gbose.worlds():
        defaults = {option.name: option.default for option in info.options}
        one, two = gbose.World(info.name).next(), gbose.World(info.name, **defaults).next()
        assert (one.contexts == two.contexts).all()
