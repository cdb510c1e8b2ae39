"""The calling conventions of other packages, so that present code can switch in a line.

    MABWiser     fit, partial_fit, predict, predict_expectations
    OBPPolicy    select_action, update_params: the online policies of Open Bandit Pipeline
    CobaLearner  predict, learn

None of those packages is imported or needed. In them a round has one context, which all arms share; here every arm has
features of its own. The adapters make a schema in which the round's context (and a constant 1, unless constant=False) is
multiplied by which arm it is, so each arm has coefficients of its own, n_arms times as many in all. What moves all arms of
a round alike needs no features: it is v.

Learning needs to know how an arm was chosen. A reward for a context and an arm that the adapter itself chose is learned
from the ticket of that choice. A row of history, chosen by something else, is learned as follows:

    lin-ts, lin-ucb, eps-greedy   from the row alone, as other packages do
    all other learners            from the row and the probabilities that its arm was drawn from: an array with a row of
                                  n_arms numbers for each row of history, or "uniform" if all arms had the same. Nothing
                                  is guessed: without them it is an error.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict
from typing import Any, Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._arguments import Array, Number, as_doubles
from ._bandit import Bandit
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
        self.learned = 0

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

    def check_history(self, arms: Sequence[int], contexts: Array, pmf: Array | None) -> None:
        """An error if there are rows that were not chosen here, and nothing says how they were."""
        chosen = Counter((arm, context.tobytes()) for arm, context in zip(arms, contexts))
        history = any(n > len(self.pending.get(key, ())) for key, n in chosen.items())
        if history and pmf is None and not self.linear:
            raise Error(
                "this row was not chosen here, and learning needs the probabilities that its arm was drawn from: "
                f'give them, {len(self.actions)} for each row, or "uniform" if that is how it was drawn'
            )

    def learn(self, arm: int, reward: float, context: Array, pmf: Array | None) -> None:
        """The reward of an arm: of a choice made here, or of history, drawn from pmf. check_history() has passed."""
        key = arm, context.tobytes()
        tickets = self.pending.get(key)
        if tickets:
            ticket = tickets.pop(0)
            if not tickets:
                del self.pending[key]
        else:
            drawn_from = np.eye(len(self.actions))[arm] if pmf is None else pmf
            ticket = self.bandit.ticket_for(pmf=drawn_from, arm=arm, actions=self.actions, user={"x": context})
        self.bandit.learn(ticket, reward)
        self.learned += 1


def _probabilities(given: Any, arms: Sequence[int], n_arms: int) -> Array | None:
    """A row of probabilities for each row of history; None if none are given."""
    if given is None:
        return None
    if isinstance(given, str):
        if given != "uniform":
            raise Error(f'probabilities must be an array or "uniform", not {given!r}')
        return np.full((len(arms), n_arms), 1 / n_arms)
    pmf = as_doubles(given, "probabilities", (len(arms), n_arms))
    for i, (row, arm) in enumerate(zip(pmf, arms)):
        if not ((row >= 0).all() and abs(row.sum() - 1) <= 1e-9 and row[arm] > 0):
            raise Error(f"row {i} of the probabilities is not a distribution with a chance for arm {arm}", "EPMF")
    return pmf


class MABWiser:
    """A bandit with the methods of mabwiser.mab.MAB.

    arms      a list of labels
    learner   of gbose, with its options; the learning policy
    seed      as there
    constant  give each arm a constant feature too

    Limits: contexts are those of a LinUCB policy there (one row a round, or None for a bandit without contexts); there
    are no neighbourhood policies, and arms cannot be added or removed. fit() and partial_fit() also take probabilities=,
    for history that the adapter did not choose (see the module). predict() and predict_expectations() work before fit(). An expectation is b @ mu, without v: differences between arms mean
    something, levels do not. predict() keeps its tickets, the last 100,000 of different contexts, for partial_fit();
    they are not part of the state of the bandit.

    >>> from gbose.adapters import MABWiser
    >>> mab = MABWiser(arms=["red", "blue"], learner="gbose-auto", seed=7)
    >>> log = dict(decisions=["red", "red", "blue"], rewards=[1, 0, 1], contexts=[[0, 1], [1, 0], [1, 1]])
    >>> mab.fit(**log, probabilities="uniform")
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

    def _rows(self, contexts: Any, n: int | None) -> Array:
        """The contexts, one row for each round; None is a row of no features."""
        rows = np.zeros((1 if n is None else n, 0)) if contexts is None else as_doubles(contexts, "contexts", (n, None))
        if self._core is None:
            learner, seed, constant, options = self._settings
            self._core = _Blocks(len(self.arms), rows.shape[1], learner, seed, constant, options)
        if rows.shape[1] != self._core.n_features:
            raise Error(f"contexts must have {self._core.n_features} features, as before, not {rows.shape[1]}")
        return rows

    def fit(
        self, decisions: Sequence[Any], rewards: ArrayLike, contexts: Any = None, probabilities: Any = None
    ) -> None:
        """Begin anew, and learn these rows."""
        before, self._core = self._core, None
        try:
            self.partial_fit(decisions, rewards, contexts, probabilities)
        except Exception:
            self._core = before
            raise

    def partial_fit(
        self, decisions: Sequence[Any], rewards: ArrayLike, contexts: Any = None, probabilities: Any = None
    ) -> None:
        """Learn these rows on top of what is known."""
        labels = list(decisions)
        for label in labels:
            if label not in self._index:
                raise Error(f"there is no arm {label!r}")
        numbers = as_doubles(rewards, "rewards", (len(labels),))
        if not np.isfinite(numbers).all():
            raise Error("rewards must be finite", "ENUMERIC")
        arms = [self._index[label] for label in labels]
        pmf = _probabilities(probabilities, arms, len(self.arms))
        rows = self._rows(contexts, len(labels))
        assert self._core is not None
        self._core.check_history(arms, rows, pmf)
        for i, (arm, reward, row) in enumerate(zip(arms, numbers, rows)):
            self._core.learn(arm, float(reward), row, None if pmf is None else pmf[i])

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
    history          "uniform": rows that select_action() did not choose were drawn uniformly. Without it they are refused,
                     unless update_params() gets pmf=, the n_actions probabilities that the action was drawn from

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
        history: str | None = None,
        **options: Number,
    ) -> None:
        if len_list != 1 or batch_size != 1:
            raise Error("len_list and batch_size must be 1")
        if n_actions < 1 or dim < 1:
            raise Error("n_actions and dim must be at least 1")
        self.n_actions, self.dim, self.len_list, self.batch_size = n_actions, dim, len_list, batch_size
        self.random_state = random_state
        self.history = history
        _probabilities(history, (), n_actions)  # a wrong word is an error now, not later
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

    def update_params(self, action: int, reward: float, context: ArrayLike, pmf: ArrayLike | None = None) -> None:
        """Learn the reward of an action for a context of shape (1, dim)."""
        if not 0 <= action < self.n_actions:
            raise Error(f"action must be from 0 to {self.n_actions - 1}, not {action}")
        row, given = self._context(context), self.history if pmf is None else [pmf]
        drawn_from = _probabilities(given, [action], self.n_actions)
        self._core.check_history([int(action)], row[None], drawn_from)
        self._core.learn(int(action), float(reward), row, None if drawn_from is None else drawn_from[0])
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
