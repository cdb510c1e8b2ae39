"""What the tests share."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("gbose", deadline=None, max_examples=100, derandomize=True, database=None)
settings.load_profile("gbose")


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture(scope="session")
def tree():
    """The project's tree: tests of what is outside of this folder need it, and so do not run without."""
    top = Path(__file__).resolve().parents[2]
    assert (top / "include" / "gbose.h").is_file(), "these tests belong to the project's tree"
    return top


@pytest.fixture(scope="session")
def command():
    """The command gbose, whose numbers are compared with ours. ./test names it."""
    assert "GBOSE" in os.environ, "set GBOSE to the path of the command gbose, as ./test does"
    return os.environ["GBOSE"]


def play(bandit, rng, rounds, n_arms=4, shift=0.0):
    """Some rounds of a world where the first feature counts."""
    for t in range(rounds):
        contexts = rng.normal(size=(n_arms, bandit.dim))
        decision = bandit.decide(contexts)
        bandit.learn(decision.ticket, contexts[decision.arm, 0] + shift * t + 0.1 * rng.normal())
