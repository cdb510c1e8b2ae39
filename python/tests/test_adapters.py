"""The conventions of other packages, driven as those packages drive them."""

import pickle
import sys
import types

import numpy as np
import pytest

import gbose
from gbose.adapters import CobaLearner, MABWiser, OBPPolicy

EFFECT = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])  # of two features, for three arms


def reward_of(arm, context, t, rng):
    return EFFECT[arm] @ context + 0.002 * t + 0.1 * rng.normal()


# ---- MABWiser ----


def test_mabwiser_online(rng):
    mab = MABWiser(arms=["a", "b", "c"], learner="gbose", seed=3, gamma=1)
    assert mab.bandit is None and mab.learned == 0
    hits = []
    for t in range(3000):
        context = rng.normal(size=(1, 2))
        arm = mab.predict(context)
        index = "abc".index(arm)
        hits.append(index == np.argmax(EFFECT @ context[0]))
        mab.partial_fit([arm], [reward_of(index, context[0], t, rng)], context)
    assert mab.learned == mab.bandit.rounds == 3000
    assert np.mean(hits[-500:]) > 0.7
    expected = mab.predict_expectations([[2.0, -1.0]])
    assert max(expected, key=expected.get) == "a"


def test_mabwiser_expectations(rng):
    """Of a learner that never stops exploring: one that does keeps the estimate at which it stopped."""
    mab = MABWiser(arms=["a", "b", "c"], learner="uniform", seed=3, intercept=1)
    for t in range(3000):
        context = rng.normal(size=(1, 2))
        arm = mab.predict(context)
        mab.partial_fit([arm], [reward_of("abc".index(arm), context[0], t, rng)], context)
    expected = mab.predict_expectations([[2.0, -1.0]])
    assert expected["a"] - expected["b"] == pytest.approx(3.0, abs=0.6)


def test_mabwiser_history_of_a_linear_learner(rng):
    """Every row is learned: the estimates are those of ridge regression on all of them."""
    mab = MABWiser(arms=[1, 2, 3], learner="lin-ucb", intercept=0, constant=False)
    contexts, arms = rng.normal(size=(80, 2)), rng.integers(1, 4, size=80)
    rewards = rng.normal(size=80)
    mab.fit(list(arms), list(rewards), contexts)
    assert mab.learned == 80
    for arm in (1, 2, 3):
        X, y = contexts[arms == arm], rewards[arms == arm]
        mu = np.linalg.solve(np.eye(2) + X.T @ X, X.T @ y)
        assert mab.predict_expectations([[0.3, -2.0]])[arm] == pytest.approx(mu @ [0.3, -2.0], rel=1e-9)
    mab.fit([1], [0.5], [[1.0, 1.0]])  # begins anew
    assert mab.learned == 1


def test_mabwiser_history_of_others_needs_its_probabilities(rng):
    """All rows of a log are learned, of which the probabilities are known: as least squares on centred rows has it."""
    n, contexts = 400, rng.normal(size=(400, 2))
    pmf = rng.dirichlet([2.0, 1.0, 3.0], size=n)
    arms = np.array([rng.choice(3, p=p) for p in pmf])
    rewards = np.array([reward_of(a, x, t, rng) for t, (a, x) in enumerate(zip(arms, contexts))])
    mab = MABWiser(arms=[0, 1, 2], learner="uniform", lambda_=2.5, constant=False)
    with pytest.raises(gbose.Error, match="probabilities that its arm was drawn from"):
        mab.fit(arms, rewards, contexts)
    assert mab.bandit is None
    mab.fit(arms, rewards, contexts, pmf)
    assert mab.learned == mab.bandit.rounds == n
    rows = np.array([np.kron(np.eye(3), x) for x in contexts])  # a block of features for each arm, up to their order
    X = rows[np.arange(n), arms] - np.einsum("ta,tad->td", pmf, rows)
    mu = np.linalg.solve(2.5 * np.eye(6) + X.T @ X, X.T @ rewards)
    expected = mab.predict_expectations([[0.3, -2.0]])
    for arm in range(3):
        assert expected[arm] == pytest.approx(mu.reshape(3, 2)[arm] @ [0.3, -2.0], rel=1e-9)
    same = MABWiser(arms=[0, 1, 2], learner="uniform")
    same.fit(arms, rewards, contexts, "uniform")
    assert same.learned == n
    for wrong in ("sometimes", pmf[:, :2], pmf[:-1], 2 * pmf, np.eye(3)[(arms + 1) % 3]):
        state = same.bandit.save()
        with pytest.raises(gbose.Error):
            same.partial_fit(arms, rewards, contexts, wrong)
        assert same.bandit.save() == state


def test_mabwiser_rows_and_no_contexts(rng):
    mab = MABWiser(arms=["x", "y"], learner="lin-ts", seed=1)
    assert len(mab.predict(rng.normal(size=(5, 3)))) == 5
    assert len(mab.predict_expectations(rng.normal(size=(5, 3)))) == 5
    free = MABWiser(arms=["x", "y"], learner="gbose", gamma=0.5)
    for _ in range(300):
        arm = free.predict()
        free.partial_fit([arm], [1.0 if arm == "y" else 0.0])
    expected = free.predict_expectations()
    assert expected["y"] - expected["x"] > 0.5
    again = pickle.loads(pickle.dumps(free))
    assert again.predict_expectations() == expected


def test_mabwiser_refuses(rng):
    mab = MABWiser(arms=["x", "y"])
    mab.fit(["x"], [1.0], [[1.0, 2.0]], [[0.25, 0.75]])
    state = mab.bandit.save()
    for use in [
        lambda: mab.partial_fit(["x"], [1.0], [[1.0, 2.0]]),
        lambda: mab.partial_fit(["z"], [1.0], [[1.0, 2.0]], "uniform"),
        lambda: mab.partial_fit(["x"], [np.nan], [[1.0, 2.0]]),
        lambda: mab.partial_fit(["x"], [1.0, 2.0], [[1.0, 2.0]]),
        lambda: mab.partial_fit(["x"], [1.0], [[1.0]]),
        lambda: mab.partial_fit(["x"], [1.0]),
        lambda: mab.fit(["z"], [1.0], [[1.0, 2.0]]),
        lambda: mab.predict([1.0, 2.0]),
        lambda: MABWiser(arms=["x"]),
        lambda: MABWiser(arms=["x", "x"]),
        lambda: MABWiser(arms=["x", "y"], learner="gboose"),
        lambda: MABWiser(arms=["x", "y"], constant=False).predict(),
    ]:
        with pytest.raises(gbose.Error):
            use()
    assert mab.bandit.save() == state


def test_pending_tickets_are_bounded(monkeypatch):
    monkeypatch.setattr("gbose.adapters._MAX_PENDING", 10)
    mab = MABWiser(arms=["x", "y"])
    chosen = [(mab.predict([[float(t)]]), float(t)) for t in range(50)]
    assert len(mab._core.pending) == 10
    for arm, x in chosen[-10:]:
        mab.partial_fit([arm], [1.0], [[x]])
    assert mab.learned == 10 and not mab._core.pending


# ---- Open Bandit Pipeline ----


def simulate_obp(policy, feedback):
    """The loop of OBP's run_bandit_simulation(): replay of logged feedback."""
    selected = []
    for action, reward, context in zip(feedback["action"], feedback["reward"], feedback["context"]):
        actions = policy.select_action(context.reshape(1, policy.dim))
        if action == actions[0]:
            policy.update_params(action=action, reward=reward, context=context.reshape(1, policy.dim))
        selected.append(actions)
    return np.array(selected)


def test_obp_replay(rng):
    contexts, actions = rng.normal(size=(6000, 2)), rng.integers(0, 3, size=6000)
    feedback = dict(
        context=contexts,
        action=actions,
        reward=np.array([reward_of(a, x, t, rng) for t, (a, x) in enumerate(zip(actions, contexts))]),
    )
    policy = OBPPolicy(n_actions=3, dim=2, random_state=1)
    selected = simulate_obp(policy, feedback)
    assert selected.shape == (6000, 1)
    matches = int((selected[:, 0] == actions).sum())
    assert policy.n_trial == policy.bandit.rounds == policy.action_counts.sum() == matches
    best = np.argmax(contexts @ EFFECT.T, axis=1)
    assert np.mean(selected[-1000:, 0] == best[-1000:]) > 0.7  # a third of the rows taught something


def test_obp_tells_its_type(monkeypatch):
    policy = OBPPolicy(n_actions=2, dim=1)
    assert policy.policy_type == "contextual"
    loaded = types.ModuleType("obp.policy.policy_type")
    loaded.PolicyType = types.SimpleNamespace(CONTEXTUAL=object())
    monkeypatch.setitem(sys.modules, "obp.policy.policy_type", loaded)
    assert policy.policy_type is loaded.PolicyType.CONTEXTUAL


def test_obp_refuses():
    policy = OBPPolicy(n_actions=2, dim=2)
    for use in [
        lambda: OBPPolicy(n_actions=2, dim=2, len_list=3),
        lambda: OBPPolicy(n_actions=2, dim=0),
        lambda: policy.select_action(np.zeros(2)),
        lambda: policy.select_action(np.zeros((2, 2))),
        lambda: policy.update_params(action=2, reward=1.0, context=np.zeros((1, 2))),
        lambda: policy.update_params(action=0, reward=np.nan, context=np.zeros((1, 2))),
    ]:
        with pytest.raises(gbose.Error):
            use()
    assert policy.n_trial == 0


# ---- coba ----


@pytest.mark.parametrize("with_actions", [True, False])
@pytest.mark.parametrize("actions", [["a", "b", "c"], [(1, 0, 0), (0, 1, 0), (0, 0, 1)], [1, 2, 3]])
def test_coba(with_actions, actions, rng):
    learner = CobaLearner("gbose", seed=1, gamma=1)
    assert learner.params == {"family": "gbose", "spec": "gbose:gamma=1"}
    hits = []
    for t in range(2500):
        context = tuple(rng.normal(size=2))
        action, probability, info = learner.predict(context, actions)
        index = actions.index(action)
        assert 0 < probability <= 1
        hits.append(index == np.argmax(EFFECT @ context))
        reward = reward_of(index, np.array(context), t, rng)
        if with_actions:
            learner.learn(context, actions, action, reward, probability, **info)
        else:
            learner.learn(context, action, reward, probability, **info)
    assert learner.bandit.rounds == 2500
    assert np.mean(hits[-500:]) > 0.8


def test_coba_forms(rng):
    by_index = CobaLearner("uniform", index=True)
    assert by_index.predict(None, ["a", "b"])[0] in (0, 1)
    own = CobaLearner("gbose", features=lambda context, actions: [[context["x"] * a] for a in (1, 2)])
    own.predict({"x": 2.0}, ["a", "b"])
    assert own.bandit.dim == 1
    assert pickle.loads(pickle.dumps(by_index)).params == by_index.params


def test_coba_refuses():
    learner = CobaLearner("gbose")
    action, probability, info = learner.predict(1.0, ["a", "b"])
    for use in [
        lambda: learner.predict(1.0, ["a", "new"]),
        lambda: learner.predict({"x": 1}, ["a", "b"]),
        lambda: learner.predict((1.0, 2.0), ["a", "b"]),
        lambda: learner.predict(1.0, []),
        lambda: CobaLearner("gbose").predict(None, [(1, 2), (1, 2, 3)]),
        lambda: learner.learn(1.0, ["a", "b"], action, 1.0, probability),
        lambda: CobaLearner("gboose"),
    ]:
        with pytest.raises(gbose.Error):
            use()
    with pytest.raises(TypeError):
        learner.learn(1.0, ticket=info["ticket"])
    assert learner.bandit.rounds == 0


def test_nothing_of_theirs_is_imported():
    assert not {"mabwiser", "obp", "coba"} & set(sys.modules)
