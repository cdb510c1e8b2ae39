"""Bandit: rounds, what it knows, keeping and sharing."""

import copy
import pickle
import signal
import threading

import numpy as np
import pytest
from conftest import play

import gbose


def test_a_round(rng):
    bandit = gbose.Bandit("gbose", dim=3, seed=2)
    decision = bandit.decide(rng.normal(size=(5, 3)))
    assert 0 <= decision.arm < 5
    assert decision.pmf.shape == (5,) and decision.pmf.sum() == pytest.approx(1, abs=1e-12)
    assert decision.probability == decision.pmf[decision.arm] > 0
    assert decision.draws == 0
    assert isinstance(decision.ticket, bytes)
    assert repr(decision).startswith("Decision(arm=")
    assert (bandit.decisions, bandit.rounds) == (1, 0)
    bandit.learn(decision.ticket, 1.5)
    bandit.learn(decision, 1.5)  # a decision is taken for its ticket; learned twice it counts twice
    bandit.learn(bytearray(decision.ticket), 1.5)
    assert bandit.rounds == 3
    assert bandit.coef.shape == (3,) and np.abs(bandit.coef).max() > 0
    assert "rounds=3" in repr(bandit)


def test_probabilities_from_samples_say_so(rng):
    assert gbose.Bandit("lin-ts:draws=50", dim=3).decide(rng.normal(size=(4, 3))).draws == 50


def test_a_decision_outlives_the_next_call(rng):
    bandit = gbose.Bandit("uniform", dim=2, seed=1)
    decision = bandit.decide(rng.normal(size=(4, 2)))
    pmf, ticket = decision.pmf.copy(), decision.ticket
    for n in (2, 9, 40):
        bandit.decide(rng.normal(size=(n, 2)))
    assert (decision.pmf == pmf).all() and decision.ticket == ticket
    again = pickle.loads(pickle.dumps(decision))
    assert (again.arm, again.ticket) == (decision.arm, ticket)


def test_options_by_name():
    assert gbose.Bandit("gbose", dim=2, gamma=0.25, seed=7).spec == "gbose:gamma=0.25,seed=7"
    half = gbose.Bandit("gbose:gamma=0.25", dim=2, lambda_=2, lone="half", seed=1)
    assert half.spec == "gbose:gamma=0.25,lambda=2,lone=half"
    assert gbose.Bandit("lin-ts", dim=np.int64(2), seed=1).spec == "lin-ts"


def test_estimates_are_those_of_ridge_regression(rng):
    """lin-ucb without an intercept is ridge regression of rewards on the contexts played: numpy solves it densely."""
    bandit = gbose.Bandit("lin-ucb", dim=4, lambda_=2.5, intercept=0)
    B, y = 2.5 * np.eye(4), np.zeros(4)
    for _ in range(60):
        contexts = rng.normal(size=(3, 4))
        decision = bandit.decide(contexts)
        reward = rng.normal()
        bandit.learn(decision.ticket, reward)
        x = contexts[decision.arm]
        B += np.outer(x, x)
        y += reward * x
    np.testing.assert_allclose(bandit.coef, np.linalg.solve(B, y), rtol=1e-10)
    probes = rng.normal(size=(5, 4))
    widths = np.sqrt(np.einsum("ij,ij->i", probes, np.linalg.solve(B, probes.T).T))
    np.testing.assert_allclose(bandit.width(probes), widths, rtol=1e-10)
    assert bandit.width(probes[0]) == pytest.approx(widths[0], rel=1e-10)
    assert np.isnan(bandit.width([np.nan, 0, 0, 0]))


def test_a_moving_level_does_not_mislead(rng):
    bandit = gbose.Bandit("gbose", dim=3, seed=1, gamma=1, intercept=1)
    play(bandit, rng, 3000, shift=0.001)
    np.testing.assert_allclose(bandit.coef, [1, 0, 0], atol=0.3)


def test_the_same_seed_gives_the_same_bytes():
    states = []
    for _ in range(2):
        bandit = gbose.Bandit("semi-ts", dim=3, seed=9)
        play(bandit, np.random.default_rng(1), 50)
        states.append(bandit.save())
    assert states[0] == states[1]
    other = gbose.Bandit("semi-ts", dim=3, seed=10)
    play(other, np.random.default_rng(1), 50)
    assert other.save() != states[0]


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b)), lambda b: gbose.load(b.save())]
)
def test_copies_go_on_bit_for_bit(duplicate, rng):
    bandit = gbose.Bandit("bose", dim=3, seed=4)
    play(bandit, rng, 30)
    twin = duplicate(bandit)
    assert twin.spec == bandit.spec
    play(bandit, np.random.default_rng(8), 30)
    play(twin, np.random.default_rng(8), 30)
    assert twin.decisions == bandit.decisions == 60
    assert (twin.coef == bandit.coef).all()
    assert twin.decide(np.eye(3)).ticket == bandit.decide(np.eye(3)).ticket


def test_a_ticket_may_come_back_elsewhere(rng):
    bandit = gbose.Bandit("gbose", dim=2, seed=1)
    twin = gbose.load(bandit.save())
    decisions = [bandit.decide(rng.normal(size=(3, 2))) for _ in range(10)]
    for d in decisions:
        bandit.learn(d.ticket, float(d.arm))
        twin.learn(d.ticket, float(d.arm))
    assert (twin.coef == bandit.coef).all()


def test_merge(rng):
    start = gbose.Bandit("gbose", dim=3, seed=1)
    play(start, rng, 20)
    state = start.save()
    workers = [gbose.load(state) for _ in range(2)]
    for number, worker in enumerate(workers, start=1):
        worker.stream(number)
        play(worker, rng, 30)
    centre = gbose.load(state)
    for worker in workers:
        centre.merge(worker)
    assert centre.rounds == 20 + 2 * 30
    with pytest.raises(gbose.Error, match="share evidence") as caught:
        centre.merge(workers[0])
    assert caught.value.name == "EOVERLAP"
    assert centre.rounds == 80
    with pytest.raises(gbose.Error, match="differ in spec"):
        centre.merge(gbose.Bandit("bose", dim=3))
    with pytest.raises(gbose.Error, match="into itself"):
        centre.merge(centre)
    with pytest.raises(TypeError):
        centre.merge(state)


# ---- what gbose-auto has more ----


def test_features_of_the_round(rng):
    """Known beforehand, the hour takes its share out of the noise."""
    knows, guesses = gbose.Bandit("gbose-auto", dim=2, seed=1, round=2), gbose.Bandit("gbose-auto", dim=2, seed=1)
    assert (knows.round_features, guesses.round_features) == (2, 0)
    for t in range(1500):
        contexts, hour = rng.normal(size=(3, 2)), rng.normal(size=2)
        for bandit, more in [(knows, (hour,)), (guesses, ())]:
            decision = bandit.decide(contexts, *more)
            bandit.learn(decision.ticket, contexts[decision.arm] @ [1, -1] + hour @ [2, 1] + 0.1 * rng.normal())
    assert knows.diagnose().residual < 0.3 * guesses.diagnose().residual
    assert knows.diagnose().removed > 0.9
    for use in [
        lambda: knows.decide(contexts),
        lambda: knows.decide(contexts, [1.0]),
        lambda: knows.decide(contexts, [[1.0, 2.0]]),
        lambda: knows.decide(contexts, [1.0, np.nan]),
        lambda: guesses.decide(contexts, hour),
        lambda: knows.decide_many(np.zeros((2, 3, 2))),
    ]:
        with pytest.raises(gbose.Error):
            use()
    with pytest.raises(TypeError):
        knows.decide(contexts, ["a", "b"])
    assert knows.decisions == 1500


def test_diagnosis(rng):
    bandit = gbose.Bandit("gbose-auto", dim=3, seed=1)
    assert bandit.diagnose().rounds == 0
    play(bandit, rng, 1500, shift=0.01)
    diagnosis = bandit.diagnose()
    assert diagnosis.rounds == 1500 and 0 <= diagnosis.removed <= 1 and 0 <= diagnosis.lone <= 1
    assert diagnosis.baseline == pytest.approx(15, abs=1)
    assert diagnosis.drift == pytest.approx(0.01, abs=0.005)
    assert "after 1500 rewards" in str(diagnosis) and diagnosis.tracker in str(diagnosis)
    with pytest.raises(gbose.Error) as caught:
        gbose.Bandit("gbose", dim=3).diagnose()
    assert caught.value.name == "ELEARNER"


# ---- many rounds ----


def test_decide_many_is_decide_on_a_stream_of_its_own(rng):
    bandit = gbose.Bandit("gbose", dim=3, seed=6)
    play(bandit, rng, 40)
    contexts = rng.normal(size=(50, 4, 3))
    before = bandit.save()
    many = bandit.decide_many(contexts, stream=7)
    assert bandit.save() == before
    twin = copy.copy(bandit)
    twin.stream(7)
    one_by_one = [twin.decide(c) for c in contexts]
    assert [d.arm for d in many] == [d.arm for d in one_by_one] == many.arm.tolist()
    assert many.tickets == [d.ticket for d in one_by_one]
    assert (many.pmf == [d.pmf for d in one_by_one]).all()
    assert (many.probability == [d.probability for d in one_by_one]).all()
    assert many[3].ticket == one_by_one[3].ticket and many[-1].arm == one_by_one[-1].arm
    assert len(many) == 50 and many[10:20].tickets == many.tickets[10:20]
    twin.learn(many[0].ticket, 1.0)


@pytest.mark.parametrize("threads", [2, 3, 100])
def test_decide_many_on_threads_is_the_same(threads, rng):
    bandit = gbose.Bandit("lin-ts:draws=20", dim=3, seed=6)
    contexts = rng.normal(size=(31, 4, 3))
    one, several = bandit.decide_many(contexts, stream=1), bandit.decide_many(contexts, stream=1, threads=threads)
    assert one.tickets == several.tickets and (one.pmf == several.pmf).all()


def test_decide_many_goes_on_with_its_draws(rng):
    bandit = gbose.Bandit("uniform", dim=1, seed=3)
    contexts = np.zeros((400, 5, 1))
    parts = [bandit.decide_many(contexts, tickets=False) for _ in range(2)]
    assert parts[0].tickets is None
    assert (parts[0].arm != parts[1].arm).any()
    whole = bandit.decide_many(np.concatenate([contexts, contexts]), first=0, tickets=False)
    assert (whole.arm == np.concatenate([p.arm for p in parts])).all()
    assert set(whole.arm) == set(range(5))


def test_decide_many_of_nothing():
    assert len(gbose.Bandit(dim=2).decide_many(np.zeros((0, 3, 2)))) == 0


def test_decide_many_refuses(rng):
    bandit = gbose.Bandit(dim=2)
    for shape in [(3, 2), (4, 3, 3), (4, 0, 2)]:
        with pytest.raises(gbose.Error, match="shape"):
            bandit.decide_many(np.zeros(shape))
    contexts = np.zeros((4, 3, 2))
    with pytest.raises(gbose.Error, match="stream must be from 0"):
        bandit.decide_many(contexts, stream=2**32)
    with pytest.raises(gbose.Error, match="threads"):
        bandit.decide_many(contexts, threads=0)
    contexts[2, 1, 1] = np.inf
    with pytest.raises(gbose.Error, match="NaN, infinite"):
        bandit.decide_many(contexts)


# ---- threads ----


def test_threads_share_a_bandit():
    """Calls take turns: nothing is lost, every ticket is whole, and readers see what is there."""
    bandit = gbose.Bandit("gbose", dim=4, seed=1)
    errors = []

    def work(number):
        try:
            rng = np.random.default_rng(number)
            for _ in range(300):
                contexts = rng.normal(size=(int(rng.integers(2, 9)), 4))
                decision = bandit.decide(contexts)
                assert decision.pmf.shape == (len(contexts),)
                assert decision.probability > 0
                bandit.learn(decision.ticket, 1.0)
                assert np.isfinite(bandit.coef).all() and np.isfinite(bandit.width(contexts[0]))
                gbose.load(bandit.save())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert bandit.rounds == bandit.decisions == 1200


def test_two_threads_merge_into_each_other():
    one, two = gbose.Bandit(dim=2, seed=1), gbose.Bandit(dim=2, seed=2)
    refused = []

    def merge(into, other):
        for _ in range(200):
            try:
                into.merge(other)
            except gbose.Error as error:
                refused.append(error.name)

    threads = [threading.Thread(target=merge, args=pair) for pair in [(one, two), (two, one)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_an_interrupt_leaves_a_bandit_in_order():
    """Ctrl-C may strike anywhere; afterwards no lock is held and the bandit goes on."""
    bandit, contexts = gbose.Bandit("gbose", dim=3, seed=1), np.eye(3)

    class Struck(Exception):
        pass

    def strike(*_):
        raise Struck

    before = signal.signal(signal.SIGALRM, strike)
    struck = 0
    try:
        while struck < 2000:
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5 + 1e-7 * (struck % 100))
                while True:
                    bandit.learn(bandit.decide(contexts).ticket, 1.0)
                    bandit.coef, bandit.rounds
            except Struck:
                struck += 1
                assert not bandit._lock._is_owned()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert bandit.decisions >= bandit.rounds > 0


def test_the_gil_is_free_while_c_works():
    """Another thread counts while decide_many() is at work on a few seconds' worth of arms."""
    bandit = gbose.Bandit("semi-ts", dim=40, seed=1)
    contexts = np.random.default_rng(1).normal(size=(2000, 30, 40))
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        while not counted[0]:
            pass
        before = counted[0]
        bandit.decide_many(contexts, tickets=False)
        assert counted[0] > before + 1000
    finally:
        done.set()
        thread.join()


def test_frames_with_columns_of_several_types(rng):
    """Each decides as the plain array of its numbers does."""
    pd = pytest.importorskip("pandas")
    plain = np.array([[1, 3, 0.5], [0, 5, 2.0], [1, -2, 1.5]])
    frames = [
        pd.DataFrame({"flag": plain[:, 0].astype(bool), "count": plain[:, 1].astype(int), "x": plain[:, 2]}),
        pd.DataFrame(
            {
                "flag": pd.array(plain[:, 0].astype(bool), dtype="boolean"),
                "count": pd.array(plain[:, 1].astype(int), dtype="Int64"),
                "x": pd.array(plain[:, 2], dtype="Float64"),
            }
        ),
        pd.DataFrame(plain, dtype=object),
    ]
    for frame in frames:
        a, b = gbose.Bandit("gbose-auto", dim=3, seed=4), gbose.Bandit("gbose-auto", dim=3, seed=4)
        for _ in range(20):
            ours, theirs = a.decide(plain), b.decide(frame)
            assert ours.ticket == theirs.ticket
            a.learn(ours, plain[ours.arm] @ [1, 0.1, -1])
            b.learn(theirs, plain[theirs.arm] @ [1, 0.1, -1])
        assert a.save() == b.save()
    frames[1].loc[1, "count"] = pd.NA
    with pytest.raises(gbose.Error, match="numbers are missing"):
        gbose.Bandit("gbose", dim=3).decide(frames[1])


def test_options_that_are_true_or_false():
    def spec(learner="gbose-auto", **options):
        return gbose.Bandit(learner, dim=2, seed=1, **options).spec

    assert spec(safe=True) == spec("gbose-auto:safe=1") != spec(safe=np.False_) == spec()


def test_a_diagnosis_in_a_notebook(rng):
    bandit = gbose.Bandit("gbose-auto", dim=2, seed=1)
    for _ in range(200):
        contexts = rng.normal(size=(3, 2))
        decision = bandit.decide(contexts)
        bandit.learn(decision, contexts[decision.arm] @ [0.3, 0.1])
    diagnosis = bandit.diagnose()
    shown = diagnosis._repr_html_()
    assert shown.count("<tr>") == len(str(diagnosis).splitlines()) - 1
    for line in str(diagnosis).splitlines():
        assert line[15:] in shown
