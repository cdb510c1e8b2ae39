"""Bandit: a learner of the C library."""

from __future__ import annotations

import re
import secrets
import sys
import threading
from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._arguments import FLOAT, Array, Number, as_doubles, make_spec, within
from ._decision import Decision, Decisions, as_ticket
from ._diagnosis import Diagnosis, Effect
from ._effects import Effects, collect
from ._errors import Error, check, failure
from ._fork import watch
from ._gbose import ffi, lib
from ._many import decide_rounds
from ._schema import Coef, Schema

_DOUBLES = ffi.typeof("double[]")
_MANY_STREAM = 2**32 - 1  # decide_many() draws from it unless told otherwise

# Looked up once: every call of decide() and learn() needs them.
_ndarray = np.ndarray
_from_buffer = ffi.from_buffer
_decide = lib.py_decide
_NOT_YET = lib.PY_NOT_YET
_NULL = ffi.NULL
_learn = lib.gbose_learn


class Bandit:
    """A contextual bandit.

    learner  the name of a learner (gbose.learners() lists them), or a whole spec: "gbose:gamma=0.1"
    dim      the number of features of an arm
    seed     of its random numbers: the same seed and the same calls give the same bytes. None: a fresh one from the
             system, so that two workers do not explore in lockstep; `spec` shows it
    schema   a Schema instead of dim: decide() then takes users and actions, coef has names, and the features of the round
             are those of the schema
    options  of the learner, instead of writing them into the spec: gamma=0.1, lambda_=2

    >>> import gbose, numpy as np
    >>> bandit = gbose.Bandit("gbose-auto", dim=2, seed=1)
    >>> rng, wrong = np.random.default_rng(1), 0
    >>> for day in range(1000):
    ...     contexts = rng.uniform(size=(3, 2))                      # three arms of two features
    ...     decision = bandit.decide(contexts)
    ...     weekday = 0.1 * (day % 7)                                # moves the reward of every arm alike
    ...     reward = contexts[decision.arm] @ [0.7, -0.4] + weekday
    ...     bandit.learn(decision.ticket, reward)
    ...     wrong += decision.arm != np.argmax(contexts @ [0.7, -0.4])
    >>> wrong < 50
    True

    A bandit may be shared by threads: calls on it take turns. Different bandits are independent, and the C code runs
    without the GIL. A signal handler may use a bandit, whatever the main thread is doing with it. A forked process has
    the bandits of its parent, each as it was between two calls.
    """

    __slots__ = ("_g", "_rooms", "_dim", "_lock", "_many", "_busy", "_why", "_schema", "__weakref__")

    def __init__(
        self,
        learner: str = "gbose-auto",
        dim: int = 0,
        seed: int | None = None,
        schema: Schema | None = None,
        **options: Number,
    ) -> None:
        out, err = ffi.new("gbose **"), ffi.new("gbose_error *")
        if not isinstance(learner, str):
            raise TypeError(f"learner must be a str, not {type(learner).__name__}")
        if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)):
            raise TypeError(f"dim must be an int, not {type(dim).__name__}")
        if schema is not None and not isinstance(schema, Schema):
            raise TypeError(f"schema must be a Schema, not {type(schema).__name__}")
        if schema is not None and dim not in (0, schema.dim):
            raise Error(f"the schema has {schema.dim} columns; leave out dim={dim}")
        if schema is None and not 1 <= dim < 2**48:
            raise Error(f"dim must be at least 1 and fit into memory, not {dim}")
        if seed is None and not re.search(r"[:,]seed=", learner):
            seed = secrets.randbits(63)
        spec = make_spec(learner, options if seed is None else {**options, "seed": seed})
        if "\0" in spec:
            raise Error("a spec cannot hold a zero byte", "ESPEC")
        if schema is None:
            check(lib.gbose_new(out, spec.encode(), dim, err), err)
        else:
            check(lib.gbose_new_for(out, spec.encode(), schema._s, err), err)
        self._take(out[0], schema)

    def _take(self, g: Any, schema: Schema | None = None) -> None:
        self._g = ffi.gc(g, lib.gbose_free)
        self._schema = schema
        self._why = "the bandit is closed"  # if it is
        self._rooms: list[tuple[Any, Any]] = []  # blocks for decisions that no call is using
        self._dim = lib.gbose_dim(g)
        self._many = 0
        self._busy = False  # decide_many() reads it on several threads
        # A signal handler may come back to a bandit that its own thread holds: C calls are over by then, so it may go
        # ahead. Taken only by `with`: Ctrl-C between acquire() and try would leave it locked.
        self._lock: Any = threading.RLock()
        watch(self)

    # ---- a round ----

    def decide(
        self, contexts: ArrayLike | None = None, round: ArrayLike | None = None, *, actions: Any = None, **scopes: Any
    ) -> Decision:
        """Choose an arm: of contexts, or, for a bandit with a schema, of actions.

        contexts  (n_arms, dim): the features of each arm. A C-contiguous array of float64 is used as it is; anything
                  else that numpy makes numbers of is copied. The number of arms may differ from round to round.
        round     (round_features,): features of the round, for a learner that has them ("gbose-auto:round=3"): what
                  moves the rewards of all arms alike, as far as it is known beforehand. They have no part in the
                  choice, but make the noise smaller.
        actions   of each arm its features, and `scopes` those of the round, as Schema.encode() takes them:
                  decide(user={"device": "ios"}, actions=[{"price": 3}, {"price": 5}], time={"hour": 14})
        """
        if actions is not None or scopes:
            contexts, round = self._encode(contexts, round, actions, scopes)
        if type(contexts) is not _ndarray:
            if contexts is None:
                raise TypeError("decide() needs contexts or, with a schema, actions")
            contexts = as_doubles(contexts, "contexts", (None, self._dim))
        features = _NULL if round is None else self._round(round)
        with self._lock:
            rooms = self._rooms  # taken out while in use: a signal handler that decides finds another one
            room = rooms.pop() if rooms else self._new_room(0)
            arm = _decide(self._g, room[0], id(contexts), features)
            if arm == _NOT_YET:
                contexts = self._prepare(contexts)
                room = self._new_room(len(contexts))
                arm = _decide(self._g, room[0], id(contexts), features)
            if arm >= 0:
                decision = Decision(arm, len(contexts), room[1][: room[0].size])
                rooms.append(room)
                return decision
        if self._g and round is None and self.round_features:
            raise Error(f"this learner has {self.round_features} features of the round: decide(contexts, round)")
        raise self._wrong_input(arm, contexts, features)

    def decide_at(
        self,
        contexts: ArrayLike | None = None,
        round: ArrayLike | None = None,
        *,
        stream: int,
        number: int,
        actions: Any = None,
        **scopes: Any,
    ) -> Decision:
        """The decision number `number` of a stream of random numbers: the same ones always give the same decision, here or
        in another process that loaded the same state. The bandit, its own stream included, does not change.

        stream    0 to 2**32 - 1; take streams that no bandit of the same seed draws from
        number    0 to 2**56 - 1; use a number once
        All else is as for decide().

        >>> import gbose, numpy as np
        >>> bandit = gbose.Bandit("gbose", dim=2, seed=1)
        >>> one = bandit.decide_at(np.eye(2), stream=7, number=12)
        >>> two = gbose.load(bandit.save()).decide_at(np.eye(2), stream=7, number=12)
        >>> one.arm == two.arm and one.ticket == two.ticket
        True
        """
        stream, number = within(stream, 2**32, "stream"), within(number, 2**56, "number")
        x, features, given = self._input(contexts, round, actions, scopes)
        with self._lock:
            g, scratch, out = self._open(), self._scratch(), ffi.new("gbose_decision *")
            code = lib.gbose_decide_at(g, scratch, out, given, stream, number)
            if not code:
                draws = int(out.draws).to_bytes(8, sys.byteorder)
                data = ffi.buffer(out.pmf, 8 * len(x))[:] + draws + ffi.buffer(out.ticket, out.ticket_size)[:]
                return Decision(out.arm, len(x), data)
        raise self._wrong_input(code, x, features)

    def ticket_for(
        self,
        contexts: ArrayLike | None = None,
        pmf: ArrayLike | None = None,
        arm: int | None = None,
        round: ArrayLike | None = None,
        *,
        actions: Any = None,
        **scopes: Any,
    ) -> bytes:
        """The ticket of a decision that somebody else made, for learn(): `arm` was drawn from `pmf`.

        pmf  (n_arms,): the probabilities that were really used. Learning is then exact, whatever they were: a log of any
             policy can be learned, if it holds the probability of every arm.
        arm  that was played
        All else is as for decide().

        >>> import gbose, numpy as np
        >>> bandit = gbose.Bandit("gbose-auto", dim=2, seed=1)
        >>> rng = np.random.default_rng(1)
        >>> for _ in range(500):                                        # a day of a randomised trial
        ...     contexts, arm = rng.normal(size=(3, 2)), rng.choice(3, p=[0.5, 0.3, 0.2])
        ...     reward = contexts[arm] @ [0.7, -0.4] + rng.normal(scale=0.1)
        ...     bandit.learn(bandit.ticket_for(contexts, [0.5, 0.3, 0.2], arm), reward)
        >>> bandit.coef.round(1).tolist()
        [0.7, -0.4]
        """
        if pmf is None or arm is None:
            raise TypeError("ticket_for() needs the pmf that the arm was drawn from, and the arm")
        x, features, given = self._input(contexts, round, actions, scopes)
        p = as_doubles(pmf, "pmf", (len(x),))
        arm = within(arm, len(x), "arm")
        with self._lock:
            ticket, size = ffi.new("const void **"), ffi.new("size_t *")
            g, scratch = self._open(), self._scratch()
            code = lib.gbose_ticket_for(g, scratch, ticket, size, given, _from_buffer(_DOUBLES, p), arm)
            if not code:
                return bytes(ffi.buffer(ticket[0], size[0]))
        raise self._wrong_input(code, x, features)

    def _input(self, contexts: Any, round: Any, actions: Any, scopes: dict[str, Any]) -> tuple[Array, Any, Any]:
        """Contexts, features of the round for C, and both as a gbose_input, which borrows from them."""
        if actions is not None or scopes:
            contexts, round = self._encode(contexts, round, actions, scopes)
        if contexts is None:
            raise TypeError("contexts are missing or, for a bandit with a schema, actions")
        x = self._prepare(contexts)
        features = _NULL if round is None else self._round(round)
        if round is None and self.round_features:
            raise Error(f"this learner has {self.round_features} features of the round: give round=")
        return x, features, _new_input(x, features)

    def _scratch(self) -> Any:
        """Memory for a call that leaves the learner as it is."""
        scratch = ffi.new("gbose_scratch **")
        check(lib.gbose_scratch_new(scratch))
        return ffi.gc(scratch[0], lib.gbose_scratch_free)

    def _wrong_input(self, code: int, contexts: Any, features: Any) -> Exception:
        """What is wrong with contexts or features of the round, in words."""
        with self._lock:
            if code == lib.GBOSE_ENUMERIC and self._g:
                err = ffi.new("gbose_error *")
                if lib.gbose_check_input(self._g, _new_input(contexts, features), err) == code:
                    return failure(code, ffi.string(err.text).decode())
            return self._failure(code)

    def _encode(self, contexts: Any, round: Any, actions: Any, scopes: dict[str, Any]) -> tuple[Array, Array | None]:
        """Contexts and features of the round by the schema."""
        if contexts is not None or round is not None:
            raise Error("contexts are given, or actions; not both")
        if self._schema is None:
            raise Error("this bandit has no schema: Bandit(learner, schema=schema) decides among actions")
        if actions is None:
            raise Error("actions are missing: decide(actions=[...], user=...)")
        rows, features = self._schema.encode(actions, **scopes)
        return rows, features if self.round_features else None

    def _round(self, round: ArrayLike) -> Any:
        """Features of the round, for C."""
        n = self.round_features
        if not n:
            raise Error("this learner has no features of the round")
        return _from_buffer(_DOUBLES, as_doubles(round, "round", (n,)))

    def _prepare(self, contexts: Array) -> Array:
        """An array that py_decide() takes."""
        contexts = as_doubles(contexts, "contexts", (None, self._dim))
        if not len(contexts):
            raise Error(f"contexts must have the shape (n_arms, {self._dim}), not {contexts.shape}")
        return contexts

    def _new_room(self, n_arms: int) -> tuple[Any, Any]:
        """A block for a decision, and a view of its bytes."""
        block = lib.py_block_new(self._g, n_arms)
        if not block:
            raise MemoryError("out of memory")
        block = ffi.gc(block, lib.py_block_free)
        return block, ffi.buffer(block.bytes, block.capacity)

    def learn(self, ticket: bytes | Decision, reward: float) -> None:
        """Learn the reward of a decision.

        ticket  Decision.ticket, from this bandit or another one of the same learner, options and dim; perhaps stored
                meanwhile, or learned in another process. A Decision is taken for its ticket.
        reward  of the arm that was played

        Tickets may come in any order, or never. Learning from one twice counts it twice.
        """
        if type(ticket) is not bytes:
            ticket = as_ticket(ticket)
        with self._lock:
            if self._busy:
                self._refuse("learn")
            try:
                code = _learn(self._g, ticket, len(ticket), reward)
            except TypeError:
                raise TypeError(f"a reward is a number, not {type(reward).__name__}") from None
            if code and self._g:
                err = ffi.new("gbose_error *")
                check(lib.gbose_check_reward(self._g, ticket, len(ticket), reward, err), err)
        if code:
            raise self._failure(code)

    def decide_many(
        self,
        contexts: ArrayLike,
        round: ArrayLike | None = None,
        *,
        stream: int | None = None,
        first: int | None = None,
        tickets: bool = True,
        threads: int = 1,
    ) -> Decisions:
        """Choose an arm in each of many independent rounds, without learning in between.

        contexts  (rounds, n_arms, dim)
        round     (rounds, round_features), for a learner that has features of the round
        stream    of random numbers, 0 to 2**32 - 1, and `first`, the number of the first round in it. The same two give
                  the same choices. Without them draws go on where the last decide_many() of this object ended; a loaded
                  or copied bandit begins anew, so name a stream where many processes work from one saved state.
        tickets   False: none are made, which is faster
        threads   rounds side by side; the result is the same

        The bandit's own stream, from which decide() draws, stays where it is.

        >>> import gbose, numpy as np
        >>> bandit = gbose.Bandit("gbose", dim=2, seed=1)
        >>> choices = bandit.decide_many(np.random.default_rng(1).normal(size=(1000, 5, 2)))
        >>> choices.arm.shape, choices.pmf.shape
        ((1000,), (1000, 5))
        >>> for decision, reward in zip(choices, np.ones(1000)):
        ...     bandit.learn(decision.ticket, reward)
        """
        x = as_doubles(contexts, "contexts", (None, None, self._dim))
        n_rounds, n_arms = x.shape[:2]
        if not n_arms:
            raise Error(f"contexts must have the shape (rounds, n_arms, {self._dim}), not {x.shape}")
        if threads < 1:
            raise Error(f"threads must be at least 1, not {threads}")
        with self._lock:
            g = self._open()
            features = self._round_rows(round, n_rounds)
            if stream is None and first is None:
                stream, first = _MANY_STREAM, self._many
                self._many += n_rounds
            elif stream is None:
                stream = _MANY_STREAM
            draws = within(stream, 2**32, "stream"), within(first or 0, 2**56, "first")
            was, self._busy = self._busy, self._busy or threads > 1
            try:
                return decide_rounds(g, x, features, *draws, tickets, min(threads, max(n_rounds, 1)))
            finally:
                self._busy = was

    def _round_rows(self, round: ArrayLike | None, n_rounds: int) -> Array | None:
        """Features of many rounds, if the learner has any."""
        n = self.round_features
        if n and round is None:
            raise Error(f"this learner has {n} features of the round: decide_many(contexts, round)")
        if round is not None and not n:
            raise Error("this learner has no features of the round")
        return None if round is None else as_doubles(round, "round", (n_rounds, n))

    # ---- what it knows ----

    @property
    def coef(self) -> Array:
        """The estimate of mu, a copy: (dim,). With a schema, coef["action.price"] is that of a column."""
        with self._lock:
            g = self._open()
            mu = np.frombuffer(ffi.buffer(lib.gbose_coef(g), 8 * self._dim), FLOAT).copy()
        return mu if self._schema is None else Coef(mu, self._schema.columns)

    @property
    def schema(self) -> Schema | None:
        """The schema that it was made or loaded with."""
        return self._schema

    def width(self, x: ArrayLike) -> float | Array:
        """The uncertainty of x @ mu in units of the noise: a number for x of shape (dim,), an array for (n, dim)."""
        if np.ndim(x) == 2:
            rows = as_doubles(x, "x", (None, self._dim))
            with self._lock:
                g = self._open()
                return np.array([lib.gbose_width(g, _from_buffer(_DOUBLES, row)) for row in rows], FLOAT)
        rows = as_doubles(x, "x", (self._dim,))
        with self._lock:
            return float(lib.gbose_width(self._open(), _from_buffer(_DOUBLES, rows)))

    @property
    def rounds(self) -> int:
        """The number of rewards learned, those of merged bandits included."""
        with self._lock:
            return int(lib.gbose_rounds(self._open()))

    @property
    def decisions(self) -> int:
        """The number of decisions drawn from the present stream."""
        with self._lock:
            return int(lib.gbose_decisions(self._open()))

    @property
    def dim(self) -> int:
        """The number of features of an arm."""
        return int(self._dim)

    @property
    def round_features(self) -> int:
        """The number of features of the round that decide() takes."""
        with self._lock:
            return int(lib.gbose_round_features(self._open()))

    def diagnose(self) -> Diagnosis:
        """What gbose-auto has found out about the place it works in; print() it. Other learners cannot tell.

        >>> import gbose
        >>> world = gbose.World("paper:arms=4,dim=3,shift=log-sine")
        >>> bandit = gbose.Bandit("gbose-auto", dim=world.dim, seed=1)
        >>> for t in range(2000):
        ...     decision = bandit.decide(world.next().contexts)
        ...     bandit.learn(decision.ticket, world.play(decision.arm)[0])
        >>> diagnosis = bandit.diagnose()
        >>> diagnosis.rounds, diagnosis.misled
        (2000, True)
        """
        with self._lock:
            d = ffi.new("gbose_diagnosis *")
            check(lib.gbose_diagnose(self._open(), d))
            values = {name: getattr(d, name) for name in Diagnosis._fields}
            values.update(full=bool(d.full), misled=bool(d.misled))
            values.update({name: ffi.string(getattr(d, name)).decode() for name in ("tracker", "advice")})
            return Diagnosis(**values)

    def effect(self, x: ArrayLike, level: float = 0.95) -> Effect:
        """What the features x add to the reward, with an interval that holds however often one looks (gbose-auto only).

        x      (dim,): a unit vector for one feature, the difference of two contexts for a contrast
        level  of confidence

        The estimate is free of the ridge's shrinkage, and of bias whatever moves all arms alike. The interval is infinite
        until there were max(200, 20 dim) rounds with a choice left to chance.

        >>> import gbose
        >>> world = gbose.World("gallery:shift=season,arms=3,dim=2")
        >>> bandit = gbose.Bandit("gbose-auto:floor=0.2", dim=world.dim, seed=1)
        >>> for t in range(2000):
        ...     decision = bandit.decide(world.next().contexts)
        ...     bandit.learn(decision.ticket, world.play(decision.arm)[0])
        >>> effect = bandit.effect([1, 0])
        >>> effect.lower < effect.estimate < effect.upper
        True
        """
        row = as_doubles(x, "x", (self.dim,))
        out = ffi.new("double[3]")
        with self._lock:
            check(lib.gbose_effect(self._open(), ffi.from_buffer("double[]", row), level, out, out + 1, out + 2))
        return Effect(out[0], out[1], out[2])

    def effects(self, x: Sequence[str] | Mapping[str, ArrayLike] | None = None, level: float = 0.95) -> Effects:
        """effect() of every feature by itself, as a table with names: those of the schema's columns, else x0, x1, ...

        x      names of columns, or name -> row of features; without it, all columns
        level  of confidence of each

        print() it, or look at frame() and plot(); effects()["action.price"] is one row. Values of a category are told against
        the first one. What chance never chose about is in `unknown`. Every row takes time of order dim cubed: name those that matter where dim is large.

        >>> import gbose, numpy as np
        >>> schema = gbose.Schema("action.price number missing=off\\naction.new flag missing=off\\narm = price new")
        >>> bandit = gbose.Bandit("gbose-auto:floor=0.2", schema=schema, seed=2)
        >>> rng = np.random.default_rng(2)
        >>> for _ in range(1500):
        ...     actions = [{"price": p, "new": p > 1} for p in rng.uniform(0, 2, size=3)]
        ...     decision = bandit.decide(actions=actions)
        ...     bandit.learn(decision, reward=-0.5 * actions[decision.arm]["price"] + rng.normal())
        >>> effects = bandit.effects()
        >>> [row["effect"] for row in effects]
        ['action.price', 'action.new']
        >>> effects["action.price"]["anytime_lower"] < -0.5 < effects["action.price"]["anytime_upper"]
        True
        """
        columns = self._schema.columns if self._schema is not None else [f"x{i}" for i in range(self.dim)]
        if isinstance(x, str):
            raise TypeError("x must be names of columns in a list, or name -> row of features")
        for name in () if x is None or isinstance(x, Mapping) else x:
            if name not in columns:
                raise Error(f"there is no column {name!r}")

        def ask(row: Any) -> dict[str, Any] | None:
            try:
                found = self.effect(row, level)
            except Error as error:
                if error.name != "EUNSEEN":
                    raise
                return None
            return {"estimate": found.estimate, "anytime_lower": found.lower, "anytime_upper": found.upper}

        return collect(columns, x, self._schema, ask)

    @property
    def spec(self) -> str:
        """The learner and its options in canonical form."""
        with self._lock:
            return str(ffi.string(lib.gbose_spec(self._open())).decode())

    # ---- keeping and sharing ----

    def save(self) -> bytes:
        """The state as bytes: versioned, checksummed, the same on every machine. gbose.load() makes a bandit of it."""
        with self._lock:
            g, size, room, code = self._open(), ffi.new("size_t *"), 0, lib.GBOSE_EBUFFER
            while code == lib.GBOSE_EBUFFER:  # also if a signal handler lets it grow meanwhile
                lib.gbose_save(g, ffi.NULL, 0, size)
                room = size[0]
                buf = ffi.new("char[]", room)
                code = lib.gbose_save(g, buf, room, size)
            check(code)
            return bytes(ffi.buffer(buf, size[0]))

    def merge(self, other: Bandit) -> None:
        """Add what `other` has learned: afterwards this bandit knows what one that saw both streams of rewards would.

        Learner, options (but for the seed) and dim must be the same. What both know from a state that both were loaded
        from counts once; where evidence would be counted twice, this is an Error of the name "EOVERLAP".

        >>> import gbose, numpy as np
        >>> state = gbose.Bandit("gbose", dim=3, seed=1).save()
        >>> workers = [gbose.load(state) for _ in range(2)]
        >>> for number, worker in enumerate(workers, start=1):
        ...     worker.stream(number)                                   # random numbers of its own
        ...     for t in range(100):
        ...         worker.learn(worker.decide(np.eye(3)).ticket, 1.0)
        >>> centre = gbose.load(state)
        >>> for worker in workers:
        ...     centre.merge(worker)
        >>> centre.rounds
        200
        """
        if not isinstance(other, Bandit):
            raise TypeError(f"a Bandit can be merged, not {type(other).__name__}")
        if other is self:
            raise Error("a bandit cannot be merged into itself")
        one, two = sorted((self, other), key=id)  # always in the same order, so that two threads cannot lock each other
        if one._lock._is_owned() or two._lock._is_owned():  # it would be another order
            self._refuse("merge")
        with one._lock, two._lock:
            check(lib.gbose_merge(self._open(), other._open()))

    def grow(self, to: int | Schema) -> Bandit:
        """A new bandit with features appended: `to` is the number of features or, for a bandit with a schema, one that only
        appends terms to it. All evidence is kept, and new features start from the prior: it is the bandit that had them
        from the start and saw zeros there. Tickets of this bandit cannot be learned by the new one: learn them first.

        >>> import gbose, numpy as np
        >>> bandit = gbose.Bandit("gbose", dim=2, seed=1)
        >>> bandit.learn(bandit.decide(np.eye(2)).ticket, 1.0)
        >>> wider = bandit.grow(3)
        >>> wider.dim, bool((wider.coef[:2] == bandit.coef).all()), wider.rounds
        (3, True, 1)
        """
        out, err = ffi.new("gbose **"), ffi.new("gbose_error *")
        schema = to if isinstance(to, Schema) else None
        with self._lock:
            if schema is None:
                check(lib.gbose_grow(out, self._open(), within(to, 2**48, "dim"), err), err)  # type: ignore[arg-type]
            elif self._schema is None:
                raise Error("this bandit has no schema to grow from")
            else:
                check(lib.gbose_grow_for(out, self._open(), self._schema._s, schema._s, err), err)
        return _adopt(out[0], schema)

    def stream(self, number: int) -> None:
        """Draw from another random stream of the same seed (0 to 2**32 - 1) from now on. Bandits that work side by
        side from one saved state should each take one of their own."""
        with self._lock:
            check(lib.gbose_stream(self._open(), within(number, 2**32, "stream")))

    def close(self) -> None:
        """Free the memory now. Any further use is an error. Not needed: it happens when the object goes."""
        with self._lock:
            self._g = ffi.NULL  # a call that a signal handler has interrupted may still hold it

    def __enter__(self) -> Bandit:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __copy__(self) -> Bandit:
        return load(self.save(), self._schema)

    def __deepcopy__(self, memo: Any) -> Bandit:
        return load(self.save(), self._schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (self.save(), self._schema)

    def __repr__(self) -> str:
        if not self._g:
            return f"<gbose.Bandit: {self._why}>"
        return f"<gbose.Bandit {self.spec!r} dim={self.dim} rounds={self.rounds}>"

    def _open(self) -> Any:
        """The learner, for C; a call keeps it alive by holding it."""
        g = self._g
        if not g:
            raise Error(self._why)
        return g

    def _failure(self, code: int) -> Exception:
        return failure(code) if self._g else Error(self._why)

    def _refuse(self, what: str) -> None:
        raise Error(
            f"{what}() during another call on this bandit by the same thread: a signal handler, probably; let it leave a "
            "note, and do it when the handler has returned"
        )


def _new_input(contexts: Any, features: Any) -> Any:
    """A gbose_input that borrows from an array of contexts that C can use, and from features of the round."""
    given = ffi.new("gbose_input *")
    given.contexts = ffi.cast("const double *", contexts.ctypes.data)
    given.n_arms, given.round = len(contexts), features
    return given


def load(data: bytes, schema: Schema | None = None) -> Bandit:
    """Make a bandit from what Bandit.save() returned. It goes on where the saved one was, bit for bit.

    schema  that it was made with; another one's state is refused. Without it the bandit takes contexts only.

    >>> import gbose
    >>> bandit = gbose.Bandit("lin-ts", dim=4, seed=3)
    >>> gbose.load(bandit.save()).spec
    'lin-ts:seed=3'
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a saved state is bytes, not {type(data).__name__}")
    out, err = ffi.new("gbose **"), ffi.new("gbose_error *")
    data = bytes(data)
    if schema is None:
        check(lib.gbose_load(out, data, len(data), err), err)
    else:
        check(lib.gbose_load_for(out, data, len(data), schema._s, err), err)
    return _adopt(out[0], schema)


def _adopt(g: Any, schema: Schema | None = None) -> Bandit:
    """A bandit that owns a learner of the C library."""
    bandit: Bandit = Bandit.__new__(Bandit)
    bandit._take(g, schema)
    return bandit
