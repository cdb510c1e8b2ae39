"""Bad input is a ValueError with the C library's text, wrong types are TypeErrors, and nothing is changed."""

import pickle

import numpy as np
import pytest
from conftest import play

import gbose


@pytest.fixture
def bandit(rng):
    bandit = gbose.Bandit("gbose", dim=3, seed=1)
    play(bandit, rng, 10)
    return bandit


@pytest.fixture(autouse=True)
def unchanged(request):
    """Whatever is refused leaves the bandit bit for bit as it was."""
    if "bandit" not in request.fixturenames:
        yield
        return
    bandit = request.getfixturevalue("bandit")
    before = bandit.save()
    yield
    if not request.node.get_closest_marker("closes"):
        assert bandit.save() == before


@pytest.mark.parametrize(
    "contexts, text",
    [
        (np.zeros((2, 4)), r"shape \(any, 3\), not \(2, 4\)|shape \(n_arms, 3\), not \(2, 4\)"),
        (np.zeros((0, 3)), r"\(n_arms, 3\)"),
        (np.zeros(3), "shape"),
        (np.zeros((2, 2, 3)), "shape"),
        ([], "shape"),
        ([[1, 2, 3], [1, 2]], "contexts"),
        (np.array([[1, None, 3]], object), "numbers are missing"),
        ([[np.nan, 0, 0]], "arm 0.*feature 0"),
        ([[0, 0, 0], [0, np.inf, 0]], "arm 1.*feature 1"),
        ([[-1e31, 0, 0]], "arm 0.*feature 0"),
    ],
)
def test_contexts(bandit, contexts, text):
    with pytest.raises(ValueError, match=text):
        bandit.decide(contexts)


@pytest.mark.parametrize(
    "contexts, text",
    [
        ([["a", "b", "c"]], "dtype"),
        (np.zeros((2, 3), complex), "dtype complex128"),
        (np.zeros((2, 3), "datetime64[s]"), "dtype"),
        (np.array([[1, "2", 3]], object), "not str"),
        (np.array([[1, 2j, 3]], object), "not complex"),
    ],
)
def test_contexts_of_wrong_types(bandit, contexts, text):
    with pytest.raises(TypeError, match=text):
        bandit.decide(contexts)


@pytest.mark.parametrize("options", [dict(gamma=None), dict(gamma=[0.1]), dict(gamma=b"1"), dict(lambda_=1j)])
def test_options_of_wrong_types(options):
    with pytest.raises(TypeError, match="must be a number or a str, not"):
        gbose.Bandit("gbose", dim=2, **options)


def test_masks_are_refused(bandit):
    """numpy would hand over what lies under the mask."""
    rows = np.ma.masked_invalid(np.array([[1, 2, 3], [np.nan, 5, 6]]))
    hidden = np.ma.masked_array(np.ones((2, 3)), mask=[[0, 0, 0], [0, 1, 0]])
    calls = [lambda x: bandit.decide(x), lambda x: bandit.width(x), lambda x: bandit.width(x[1])]
    for call in [*calls, lambda x: bandit.decide_many(x[np.newaxis])]:
        for masked in (rows, hidden):
            with pytest.raises(gbose.Error, match="masked.*filled"):
                call(masked)


@pytest.mark.parametrize("x", [np.zeros(2), np.zeros((1, 2)), np.zeros((1, 1, 3)), ["a", "b", "c"]])
def test_width(bandit, x):
    with pytest.raises(TypeError if isinstance(x, list) else ValueError):
        bandit.width(x)


def test_tickets(bandit, rng):
    before = bandit.save()
    ticket = gbose.load(before).decide(rng.normal(size=(4, 3))).ticket
    for wrong in [b"", ticket[:-1], ticket[:-8], ticket + b"\0" * 8, ticket[:20] + b"\1" + ticket[21:], b"x" * 500]:
        with pytest.raises(gbose.Error, match="truncated, corrupted or not a ticket") as caught:
            bandit.learn(wrong, 1.0)
        assert caught.value.name == "ETICKET"
    for other in [gbose.Bandit("bose", dim=3), gbose.Bandit("gbose:gamma=0.7", dim=3), gbose.Bandit("gbose", dim=2)]:
        with pytest.raises(gbose.Error, match="another spec|of another|with 2 features") as caught:
            bandit.learn(other.decide(np.eye(other.dim)).ticket, 1.0)
        assert caught.value.name == "EFOREIGN"
    for wrong in ["text", None, 7, [1, 2]]:
        with pytest.raises(TypeError, match="a ticket is bytes"):
            bandit.learn(wrong, 1.0)
    for reward in [np.nan, np.inf, 1e31]:
        with pytest.raises(gbose.Error, match="reward"):
            bandit.learn(ticket, reward)
    for reward in ["one", None]:
        with pytest.raises(TypeError):
            bandit.learn(ticket, reward)


@pytest.mark.parametrize(
    "arguments, text",
    [
        (dict(learner="gboose", dim=2), "unknown learner 'gboose'.*did you mean 'gbose'"),
        (dict(learner="gbose:gama=1", dim=2), "did you mean 'gamma'"),
        (dict(learner="gbose", dim=2, gamma=-1), "gamma"),
        (dict(learner="gbose", dim=2, gamma="much"), "gamma"),
        (dict(learner="gbose", dim=2, tempo=3), "tempo"),
        (dict(learner="gbose\0", dim=2), "zero byte"),
        (dict(learner="gbose", dim=0), "dim must be at least 1"),
        (dict(learner="gbose", dim=-3), "dim must be at least 1"),
        (dict(learner="gbose", dim=2, seed=-1), "seed"),
    ],
)
def test_making(arguments, text):
    with pytest.raises(ValueError, match=text):
        gbose.Bandit(**arguments)


def test_making_something_huge():
    with pytest.raises((MemoryError, gbose.Error)):
        gbose.Bandit("gbose", dim=10**9)
    with pytest.raises(gbose.Error):
        gbose.Bandit("gbose", dim=2**60)


@pytest.mark.parametrize("arguments", [dict(learner=5, dim=2), dict(dim="2"), dict(dim=2.0), dict(dim=True)])
def test_making_of_wrong_types(arguments):
    with pytest.raises(TypeError):
        gbose.Bandit(**arguments)


def test_states(bandit):
    state = bandit.save()
    for wrong in [b"", state[:-1], state[:100], state[:50] + b"\xff\xff" + state[52:], b"\0" * 300]:
        with pytest.raises(gbose.Error) as caught:
            gbose.load(wrong)
        assert caught.value.name in ("ESTATE", "EVERSION")
    with pytest.raises(TypeError, match="bytes"):
        gbose.load("text")


@pytest.mark.closes
def test_use_after_close(bandit):
    ticket = bandit.decide(np.eye(3)).ticket
    bandit.close()
    bandit.close()
    uses = [
        lambda: bandit.decide(np.eye(3)),
        lambda: bandit.decide(np.zeros((99, 3))),
        lambda: bandit.decide_many(np.zeros((2, 2, 3))),
        lambda: bandit.learn(ticket, 1.0),
        lambda: bandit.coef,
        lambda: bandit.width(np.zeros(3)),
        lambda: bandit.rounds,
        lambda: bandit.decisions,
        lambda: bandit.spec,
        lambda: bandit.round_features,
        lambda: bandit.diagnose(),
        lambda: bandit.save(),
        lambda: bandit.stream(1),
        lambda: pickle.dumps(bandit),
        lambda: bandit.merge(gbose.Bandit(dim=3)),
        lambda: gbose.Bandit(dim=3).merge(bandit),
    ]
    for use in uses:
        with pytest.raises(ValueError, match="closed"):
            use()
    assert "closed" in repr(bandit)
    with gbose.Bandit(dim=2) as other:
        other.decide(np.eye(2))
    with pytest.raises(ValueError, match="closed"):
        other.decide(np.eye(2))


def test_streams(bandit):
    for wrong in [-1, 2**32]:
        with pytest.raises(gbose.Error, match="stream must be from 0"):
            bandit.stream(wrong)
    with pytest.raises(TypeError):
        bandit.stream("one")


def test_an_error_can_be_pickled():
    error = pickle.loads(pickle.dumps(gbose.Error("text", "ETICKET")))
    assert (str(error), error.name) == ("text", "ETICKET")


def test_nothing_leaks():
    """Ten thousand bandits, closed or dropped, and as many errors: memory stays where it is."""
    import resource

    def churn(n):
        for i in range(n):
            bandit = gbose.Bandit("gbose", dim=30)
            bandit.decide(np.zeros((5, 30)))
            if i % 2:
                bandit.close()
            try:
                bandit.learn(b"no", 1)
            except gbose.Error:
                pass

    churn(500)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    churn(10000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 20_000  # kB; each bandit takes some 20
