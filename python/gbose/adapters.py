"""The calling conventions of other packages, so that present code can switch in a line.

    MABWiser     fit, partial_fit, predict, predict_expectations
    OBPPolicy    select_action, update_params: the online policies of Open Bandit Pipeline
    CobaLearner  predict, learn

None of those packages is imported or needed. In them a round has one context, which all arms share; here every arm has
features of its own. The adapters make a schema in which the round's context (and a constant 1, unless constant=False) is
multiplied by which arm it is, so each arm has coefficients of its own, n_arms times as many in all. What moves all arms of
a round alike needs no features: it is v.

Learning needs to know how an arm was chosen. A reward for a context and an arm that the adapter itself chose is learned
from the ticket of that choice. A row of history, chosen by something else, is used as follows:

    lin-ts, lin-ucb, eps-greedy   learn from every row, as other packages do
    all other learners            replay: the adapter draws an arm for the row's context, and learns the row if it is the
                                  arm in the log. This is right if the log was drawn uniformly at random, and keeps about
                                  one row in n_arms. The attributes `learned` and `skipped` count rows.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any, Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._bandit import Array, Bandit, Number, as_doubles
from ._errors import Error
from ._schema import Schema

__all__ = ["CobaLearner", "MABWiser", "OBPPolicy"]

_LINEAR = {"lin-ts", "lin-ucb", "eps-greedy"}
_MAX_PENDING = 100_000


def _schema_for(arms: str, n_features: int, constant: bool = True) -> Schema:
    """Each arm times a constant and the round's context. `arms` is what tells arms apart: a declaration."""
    name = arms.split()[0]
    terms = [name] * constant + [f"user.x*{name}"] * (n_features > 0)
    context = f"user.x vector {n_features} missing=error" if n_features else ""
    return Schema(f"{arms} missing=error\n{context}\narm = {' '.join(terms)}")


def _labels(n: int) -> str:
    """The declaration of n arms that are names only."""
    return f"action.id category {', '.join(map(str, range(n)))} other=error"


class _Blocks:
    """A bandit over arms that share the context of the round: a block of features for each arm."""

    def __init__(
        self, n_arms: int, n_features: int, learner: str, seed: int | None, constant: bool, options: dict[str, Number]
    ) -> None:
        self.n_features = n_features
        if not n_features + constant:
            raise Error("without contexts the constant is all there is: leave out constant=False")
        self.schema = _schema_for(_labels(n_arms), n_features, constant)
        self.actions = [{"id": arm} for arm in range(n_arms)]
        self.linear = learner.split(":")[0] in _LINEAR
        self.bandit = Bandit(learner, dim=self.schema.dim, schema=self.schema, seed=seed, **options)
        self.pending: OrderedDict[tuple[int, bytes], list[bytes]] = OrderedDict()
        self.learned = self.skipped = 0

    def choose(self, context: Array) -> int:
        decision = self.bandit.decide(actions=self.actions, user={"x": context})
        key = decision.arm, context.tobytes()
        self.pending.setdefault(key, []).append(decision.ticket)
        if len(self.pending) > _MAX_PENDING:
            self.pending.popitem(last=False)  # its reward is taken not to come any more
        return decision.arm

    def scores(self, context: Array) -> Array:
        scores: Array = self.schema.encode(self.actions, user={"x": context})[0] @ self.bandit.coef
        return scores

    def learn(self, arm: int, reward: float, context: Array) -> None:
        """The reward of an arm: of a choice made here, or of history."""
        key = arm, context.tobytes()
        tickets = self.pending.get(key)
        if tickets:
            ticket = tickets.pop(0)
            if not tickets:
                del self.pending[key]
        else:
            arms = self.actions[arm : arm + 1] if self.linear else self.actions
            decision = self.bandit.decide(actions=arms, user={"x": context})
            if not self.linear and decision.arm != arm:
                self.skipped += 1
                return
            ticket = decision.ticket
        self.bandit.learn(ticket, reward)
        self.learned += 1


class MABWiser:
    """A bandit with the methods of mabwiser.mab.MAB.

    arms      a list of labels
    learner   of gbose, with its options; the learning policy
    seed      as there
    constant  give each arm a constant feature too

    Limits: contexts are those of a LinUCB policy there (one row a round, or None for a bandit without contexts); there
    are no neighbourhood policies, no warm start, and arms cannot be added or removed. predict() and
    predict_expectations() work before fit(). An expectation is b @ mu, without v: differences between arms mean
    something, levels do not. predict() keeps its tickets, the last 100,000 of different contexts, for partial_fit();
    they are not part of the state of the bandit.

    >>> from gbose.adapters import MABWiser
    >>> mab = MABWiser(arms=["red", "blue"], learner="lin-ucb", seed=7)
    >>> mab.fit(decisions=["red", "red", "blue"], rewards=[1, 0, 1], contexts=[[0, 1], [1, 0], [1, 1]])
    >>> mab.predict([[0, 1]]) in ("red", "blue")
    True
    >>> sorted(mab.predict_expectations([[0, 1]]))
    ['blue', 'red']
    """

    def __init__(
        self,
        arms: Sequence[Hashable],
        learner: str = "gbose-auto",
        seed: int | None = 1,
        constant: bool = True,
        **options: Number,
    ) -> None:
        self.arms = list(arms)
        if len(set(self.arms)) != len(self.arms) or len(self.arms) < 2:
            raise Error("arms must be two or more different labels")
        self._settings = (learner, seed, constant, options)
        self._index = {arm: i for i, arm in enumerate(self.arms)}
        self._core: _Blocks | None = None
        Bandit(learner, dim=1, seed=seed, schema=None, **options).close()  # a wrong learner is an error now, not later

    @property
    def bandit(self) -> Bandit | None:
        """The bandit behind it; None until the number of features is known."""
        return self._core.bandit if self._core else None

    @property
    def learned(self) -> int:
        return self._core.learned if self._core else 0

    @property
    def skipped(self) -> int:
        return self._core.skipped if self._core else 0

    def _rows(self, contexts: Any, n: int | None) -> Array:
        """The contexts, one row for each round; None is a row of no features."""
        rows = np.zeros((1 if n is None else n, 0)) if contexts is None else as_doubles(contexts, "contexts", (n, None))
        if self._core is None:
            learner, seed, constant, options = self._settings
            self._core = _Blocks(len(self.arms), rows.shape[1], learner, seed, constant, options)
        if rows.shape[1] != self._core.n_features:
            raise Error(f"contexts must have {self._core.n_features} features, as before, not {rows.shape[1]}")
        return rows

    def fit(self, decisions: Sequence[Any], rewards: ArrayLike, contexts: Any = None) -> None:
        """Begin anew, and learn these rows."""
        before, self._core = self._core, None
        try:
            self.partial_fit(decisions, rewards, contexts)
        except Exception:
            self._core = before
            raise

    def partial_fit(self, decisions: Sequence[Any], rewards: ArrayLike, contexts: Any = None) -> None:
        """Learn these rows on top of what is known."""
        labels = list(decisions)
        for label in labels:
            if label not in self._index:
                raise Error(f"there is no arm {label!r}")
        numbers = as_doubles(rewards, "rewards", (len(labels),))
        if not np.isfinite(numbers).all():
            raise Error("rewards must be finite", "ENUMERIC")
        rows = self._rows(contexts, len(labels))
        assert self._core is not None
        for label, reward, row in zip(labels, numbers, rows):
            self._core.learn(self._index[label], float(reward), row)

    def predict(self, contexts: Any = None) -> Any:
        """The arm to play; a list of them for several rows."""
        rows = self._rows(contexts, None)
        assert self._core is not None
        arms = [self.arms[self._core.choose(row)] for row in rows]
        return arms[0] if len(arms) == 1 else arms

    def predict_expectations(self, contexts: Any = None) -> Any:
        """{arm: b @ mu}; a list of them for several rows."""
        rows = self._rows(contexts, None)
        assert self._core is not None
        all_ = [dict(zip(self.arms, map(float, self._core.scores(row)))) for row in rows]
        return all_[0] if len(all_) == 1 else all_


class OBPPolicy:
    """A bandit with the methods of the contextual online policies of obp.policy.

    n_actions, dim   as there
    learner          of gbose, with its options
    random_state     the seed
    constant         give each action a constant feature too

    Limits: one action a round (len_list is 1), and no batches (batch_size is 1). update_params() should follow a
    select_action() of the same context that returned the action, as in OBP's simulator; other rows are history.

    >>> import numpy as np
    >>> from gbose.adapters import OBPPolicy
    >>> policy = OBPPolicy(n_actions=3, dim=2, learner="gbose", random_state=12345)
    >>> context = np.array([[0.5, -1.0]])
    >>> (action,) = policy.select_action(context)
    >>> policy.update_params(action=action, reward=1.0, context=context)
    >>> policy.n_trial, int(policy.action_counts[action])
    (1, 1)
    """

    def __init__(
        self,
        n_actions: int,
        dim: int,
        learner: str = "gbose-auto",
        len_list: int = 1,
        batch_size: int = 1,
        random_state: int | None = None,
        constant: bool = True,
        **options: Number,
    ) -> None:
        if len_list != 1 or batch_size != 1:
            raise Error("len_list and batch_size must be 1")
        if n_actions < 1 or dim < 1:
            raise Error("n_actions and dim must be at least 1")
        self.n_actions, self.dim, self.len_list, self.batch_size = n_actions, dim, len_list, batch_size
        self.random_state = random_state
        self.n_trial = 0
        self.action_counts = np.zeros(n_actions, dtype=int)
        self._core = _Blocks(n_actions, dim, learner, random_state, constant, options)
        self.bandit = self._core.bandit
        self.policy_name = "gbose_" + self.bandit.spec

    @property
    def policy_type(self) -> Any:
        """What OBP tells policies apart by: its own constant when it is loaded, else the word of its older versions."""
        types = sys.modules.get("obp.policy.policy_type")
        return types.PolicyType.CONTEXTUAL if types else "contextual"

    def _context(self, context: ArrayLike) -> Array:
        row: Array = as_doubles(context, "context", (1, self.dim))[0]
        return row

    def select_action(self, context: ArrayLike) -> Any:
        """An array that holds the action for a context of shape (1, dim)."""
        return np.array([self._core.choose(self._context(context))])

    def update_params(self, action: int, reward: float, context: ArrayLike) -> None:
        """Learn the reward of an action for a context of shape (1, dim)."""
        if not 0 <= action < self.n_actions:
            raise Error(f"action must be from 0 to {self.n_actions - 1}, not {action}")
        self._core.learn(int(action), float(reward), self._context(context))
        self.n_trial += 1
        self.action_counts[action] += 1


class CobaLearner:
    """A bandit with the methods of a coba learner.

    learner   of gbose, with its options
    seed      of its random numbers
    features  a function (context, actions) -> (n_actions, dim), if the default is not what you want: all products of
              (1, context) with the action, which is its numbers if it has any, else one of the first round's actions
    index     return an action's place among `actions` instead of the action, as coba before version 7 wants it

    predict() returns (action, probability, {"ticket": bytes}), and coba hands the ticket to learn(). Both forms of
    learn() are understood: (context, actions, action, reward, probability, ticket=) and, in later versions of coba, the
    same without `actions`.

    Limits: contexts and actions are numbers, sequences of numbers or, for actions, labels; not dictionaries. Learning
    without a ticket (off policy) is an error.

    >>> from gbose.adapters import CobaLearner
    >>> learner = CobaLearner("gbose", seed=1)
    >>> action, probability, info = learner.predict((0.5, 1.0), ["a", "b", "c"])
    >>> learner.learn((0.5, 1.0), ["a", "b", "c"], action, 1.0, probability, **info)
    >>> learner.bandit.rounds
    1
    """

    def __init__(
        self,
        learner: str = "gbose-auto",
        seed: int | None = 1,
        features: Callable[[Any, Sequence[Any]], ArrayLike] | None = None,
        index: bool = False,
        **options: Number,
    ) -> None:
        self._settings = (learner, seed, options)
        self._features = features
        self._schema: Schema | None = None  # made of the first round
        self._labels: dict[Hashable, int] = {}
        self._index = index
        self._spec = Bandit(learner, dim=1, seed=seed, schema=None, **options).spec
        self.bandit: Bandit | None = None  # made when the number of features is known

    @property
    def params(self) -> dict[str, Any]:
        return {"family": "gbose", "spec": self._spec}

    @staticmethod
    def _numbers(x: Any) -> list[float] | None:
        """The numbers in a context or an action; None if it is a label."""
        if x is None:
            return []
        if isinstance(x, (int, float, np.number)):
            return [float(x)]
        if isinstance(x, Iterable) and not isinstance(x, (str, bytes, dict)):
            values = list(x)
            if all(isinstance(v, (int, float, np.number)) for v in values):
                return [float(v) for v in values]
        return None

    def _rows(self, context: Any, actions: Sequence[Any]) -> Array:
        """All products of (1, context) with the action."""
        shared = self._numbers(context)
        if shared is None:
            raise Error("a context must be None, a number or a sequence of numbers; else give features=")
        own = [self._numbers(a) for a in actions]
        labels = any(a is None or len(a) < 2 for a in own)  # or single numbers, which coba uses as labels
        if self._schema is None:
            if labels:
                self._labels = {a: i for i, a in enumerate(actions)}
            arms = _labels(len(actions)) if labels else f"action.a vector {len(own[0] or [])}"
            self._schema = _schema_for(arms, len(shared))
        if labels:
            for a in actions:
                if a not in self._labels:
                    raise Error(f"the action {a!r} was not among those of the first round; else give features=")
            return self._schema.encode([{"id": self._labels[a]} for a in actions], user={"x": shared})[0]
        return self._schema.encode([{"a": a} for a in own], user={"x": shared})[0]

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float, dict[str, bytes]]:
        if not len(actions):
            raise Error("there must be actions to choose from")
        make = self._features or self._rows
        rows = as_doubles(make(context, actions), "features", (len(actions), None))
        if self.bandit is None:
            learner, seed, options = self._settings
            self.bandit = Bandit(learner, dim=rows.shape[1], schema=self._schema, seed=seed, **options)
        decision = self.bandit.decide(rows)
        action = decision.arm if self._index else actions[decision.arm]
        return action, decision.probability, {"ticket": decision.ticket}

    def learn(self, context: Any, *rest: Any, ticket: bytes | None = None) -> None:
        if len(rest) not in (3, 4):
            raise TypeError("learn() takes (context, [actions,] action, reward, probability, ticket=)")
        if ticket is None or self.bandit is None:
            raise Error("only what predict() chose can be learned: its ticket is missing", "ETICKET")
        self.bandit.learn(ticket, float(rest[-2]))
