"""Logs: what other policies would have earned, and what features do."""

from __future__ import annotations

import builtins
import math
import operator
import re
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._bandit import Bandit
from ._effects import Effects, collect
from ._errors import Error, check
from ._gbose import ffi, lib
from ._rows import COLUMNS, Arms, Row, rows
from ._schema import Schema

Policy = Union[str, Bandit, Callable[[Row], Any]]


class Interval(NamedTuple):
    """An estimate and its limits; they are infinite as long as nothing can be said."""

    estimate: float
    lower: float
    upper: float


class Audit(NamedTuple):
    """Were arms drawn as logged? arm, bin and score are standard scores, p the probability that chance makes one so large."""

    arm: float
    bin: float
    score: float
    p: float
    least_p: float
    unplayable: float
    certain: float


class _Logged:
    """A row as the C library takes it, and the arrays that it points to."""

    def __init__(self, schema: Schema | None) -> None:
        self.c = ffi.new("gbose_logged *")
        self.labels: dict[Any, int] = {}
        self.units: dict[Any, int] = {}
        self.schema = schema
        self.accepted: set[str] = set() if schema is None else {f"{schema.hash:016x}"}  # hashes of rows that may be taken
        self.kept: float | None = None  # 'drop', which all rows have in common

    def read(self, row: Row, number: int) -> bool:
        """Take a row; False if it has no reward."""
        try:
            arm = row["arm"]
            self.arm = operator.index(int(arm) if isinstance(arm, float) and arm.is_integer() else arm)
            self.pmf = np.ascontiguousarray(row["pmf"] if "pmf" in row else self._partial(row), dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise Error(f"row {number}: 'arm' (an index) and 'pmf' (the probabilities of all arms) are needed: {error}") from None
        if self.pmf.ndim != 1 or not 0 <= self.arm < len(self.pmf):
            raise Error(f"row {number}: 'arm' is {self.arm}, and 'pmf' has the shape {self.pmf.shape}")
        if row.get("v", 1) != 1:
            raise Error(f"row {number}: 'v' must be 1: another version of the format is not known")
        reward = row.get("r", row.get("reward"))
        if reward is None or (isinstance(reward, float) and math.isnan(reward)):
            return False
        self._sampled(row, number)
        self._contexts(row, number)
        c = self.c
        try:
            c.n_arms, c.arm, c.reward = len(self.pmf), self.arm, float(reward)
        except (TypeError, ValueError):
            raise Error(f"row {number}: the reward must be a number; got {reward!r}") from None
        c.partial = int("pmf" not in row and len(self.pmf) > 1)
        c.pmf = ffi.from_buffer("double[]", self.pmf)
        c.contexts = ffi.from_buffer("double[]", self.x) if self.x is not None else ffi.NULL
        c.label = ffi.NULL
        if row.get("arms") is not None:
            if len(row["arms"]) != len(self.pmf):
                raise Error(f"row {number}: 'arms' has {len(row['arms'])} entries, and there are probabilities of {len(self.pmf)} arms")
            self.label = ffi.new("size_t[]", [self.labels.setdefault(a, len(self.labels)) for a in row["arms"]])
            c.label = self.label
        unit = row.get("unit")
        c.unit = 0 if unit is None else self.units.setdefault(unit, len(self.units))
        return True

    def _partial(self, row: Row) -> list[float]:
        """Only the probability of the arm played is known: the others share the rest."""
        if "p" not in row:
            raise ValueError("there is neither 'pmf' nor 'p'")
        n, p = len(row["arms"]) if "arms" in row else int(row["n_arms"]), float(row["p"])
        if not 0 < p <= 1:
            raise ValueError(f"'p' is {p:g}: the probability of the arm played is above 0 and at most 1")
        return [p if a == self.arm else (1 - p) / (n - 1) for a in builtins.range(n)]

    def _sampled(self, row: Row, number: int) -> None:
        """A log that was thinned must have been thinned evenly."""
        kept = float(row.get("drop", 1))
        if not 0 < kept <= 1:
            raise Error(f"row {number}: 'drop' is {kept:g}: the probability of being kept is above 0 and at most 1")
        if self.kept is not None and abs(kept - self.kept) > 1e-12:
            raise Error(f"row {number}: it was kept with probability {kept:g} and others with {self.kept:g} ('drop'): a log that was thinned "
                        "unevenly cannot be judged")
        self.kept = kept

    def _contexts(self, row: Row, number: int) -> None:
        """Contexts and features of the round: as logged, or by the schema."""
        self.x: NDArray[np.float64] | None = None
        self.round: Any = row.get("round")
        made_by = row.get("schema")
        if self.schema is not None and made_by is not None and made_by not in self.accepted:
            self._accept(str(made_by), number)
        if self.schema is not None and row.get("actions") is not None:
            scopes = {key: value for key, value in row.items() if isinstance(value, Mapping) and key not in ("policies", "actions")}
            try:
                self.x, self.round = self.schema.encode(row["actions"], **scopes)
            except Error as error:
                raise Error(f"row {number}: {error}") from None
        elif row.get("x") is not None and "pmf" in row:
            try:
                self.x = np.ascontiguousarray(row["x"], dtype=np.float64)
            except (TypeError, ValueError):
                raise Error(f"row {number}: 'x' must be a row of numbers for each arm, all of one length") from None
        elif self.schema is not None and "pmf" in row:
            raise Error(f"row {number}: there are no features by name ('actions'), which the schema needs")
        if self.x is not None and (self.x.ndim != 2 or len(self.x) != len(self.pmf)):
            raise Error(f"row {number}: 'x' must have a row for each of {len(self.pmf)} arms; its shape is {self.x.shape}")
        if self.schema is not None and self.x is not None and self.x.shape[1] != self.schema.dim:
            raise Error(f"row {number}: contexts have {self.x.shape[1]} features, and the schema has {self.schema.dim}")

    def _accept(self, made_by: str, number: int) -> None:
        """The schema may have grown since; another one's rows are refused."""
        assert self.schema is not None
        if not re.fullmatch("[0-9a-f]{16}", made_by):
            raise Error(f"row {number}: 'schema' must be a schema's hash, 16 hexadecimal digits, not {made_by!r}")
        try:
            self.schema.before(int(made_by, 16))
        except Error:
            raise Error(f"row {number}: it was made by the schema {made_by}, and the one given is {self.schema.hash:016x}", "ESCHEMA") from None
        self.accepted.add(made_by)


def _named(policies: Any) -> list[tuple[str, Policy]]:
    if isinstance(policies, Mapping):
        return list(policies.items())
    if isinstance(policies, (str, Bandit)):
        policies = [policies]
    out: list[tuple[str, Policy]] = []
    for policy in policies:
        if isinstance(policy, tuple):
            name, given = policy
            out.append((str(name), given))
        elif isinstance(policy, str):
            out.append((policy, policy))
        elif isinstance(policy, Bandit):
            out.append((policy.spec, policy))
        else:
            out.append((getattr(policy, "__name__", "policy"), policy))
    return out


def _check_names(names: list[str]) -> None:
    """Results are found by name."""
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise Error(f"two policies are called {twice[0]!r}; give each a name of its own: [..., ('mine', policy)]")


# What a policy may not see: it must decide from what was known before the draw.
_HIDDEN = frozenset(("r", "reward", "arm", "rt", "why"))

# The column that rows are grouped by, or a function of a row.
By = Union[str, Callable[[Row], Any], None]


def _group_of(by: By, row: Row) -> str:
    """The value that a row is grouped by; "(none)" if it has none."""
    shown = {key: value for key, value in row.items() if key not in _HIDDEN}
    if callable(by):
        return str(by(shown))
    assert by is not None
    if by in _HIDDEN or by in ("p", "pmf", "played"):
        raise Error(f"by must be something that was known before the draw, and {by!r} came of it: its groups would tell nothing")
    value: Any = shown.get(by)
    if value is None and "." in by:
        value = shown
        for part in by.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    return "(none)" if value is None else str(value)


def _check_groups(by: By, groups: Mapping[str, Any]) -> None:
    if isinstance(by, str) and list(groups) == ["(none)"]:
        raise Error(f"no row has a value {by!r} to go by")


def _pmf(policy: Policy, name: str, row: Row, logged: _Logged, number: int) -> Any:
    n = len(logged.pmf)
    if policy == "logged":
        return logged.pmf
    if policy == "uniform":
        return np.full(n, 1 / n)
    if isinstance(policy, str) and policy.startswith("arm="):
        ids = [str(a) for a in row.get("arms", range(n))]
        if policy[4:] not in ids:
            raise Error(f"row {number}: there is no arm '{policy[4:]}'")
        return np.eye(n)[ids.index(policy[4:])]
    if isinstance(policy, str) and policy.startswith("column:"):
        try:
            return row["policies"][policy[7:]]
        except KeyError:
            raise Error(f"row {number}: 'policies' has no '{policy[7:]}'") from None
    if isinstance(policy, Bandit):
        if logged.x is None:
            raise Error(f"row {number}: there are no contexts ('x'), which {name} needs")
        made_by = row.get("schema") if logged.schema is None else f"{logged.schema.hash:016x}"
        if policy.schema is not None and made_by is not None and made_by != f"{policy.schema.hash:016x}":
            raise Error(f"row {number}: contexts are of the schema {made_by}, and {name} was made for {policy.schema.hash:016x}", "ESCHEMA")
        return policy.decide_at(logged.x, logged.round if policy.round_features else None, stream=2**32 - 1, number=number).pmf
    if callable(policy):
        return policy({key: value for key, value in row.items() if key not in _HIDDEN})
    raise Error(f"unknown policy {policy!r}: there are 'logged', 'uniform', 'arm=ID', 'column:NAME', a Bandit, or a function of a row")


class Evaluation:
    """What a log says about policies. print() it; frame() and plot() show more.

    policies     name -> value: the library's numbers for each, as attributes (ips, dr, level, effective, supported, ...)
    differences  name -> Interval: to the first policy, a round, valid at any time
    audit        Audit
    rounds, missing   rows that counted, and rows without a reward
    groups       value of the column `by` -> Evaluation of its rows alone; each interval holds by itself, and among many a few may be wrong
    """

    def __init__(self, names: list[str], e: Any, rounds: int, missing: int, curve: list[tuple[int, list[Interval]]], level: float,
                 saved: Iterable[str] = ()) -> None:
        self._saved = frozenset(saved)  # names of bandits that learned before, and nobody can say from what
        self.rounds, self.missing, self.level = rounds, missing, level
        self.groups: dict[str, Evaluation] = {}
        self.policies: dict[str, dict[str, Any]] = {}
        self.differences: dict[str, Interval] = {}
        self.exact: dict[str, Interval] = {}
        self.curve = curve
        value, difference, audit = ffi.new("gbose_policy_value *"), ffi.new("gbose_difference *"), ffi.new("gbose_audit *")
        for i, name in enumerate(names):
            check(lib.gbose_evaluation_policy(e, i, value))
            self.policies[name] = {field: _python(getattr(value, field)) for field, _ in ffi.typeof("gbose_policy_value").fields}
            if i:
                check(lib.gbose_evaluation_difference(e, i, difference))
                self.differences[name] = _python(difference.phi)
                self.exact[name] = _python(difference.paired)
        check(lib.gbose_evaluation_audit(e, audit))
        self.audit = Audit(*(getattr(audit, field) for field in Audit._fields))

    def frame(self) -> Any:
        """A pandas frame, a row for each policy."""
        import pandas as pd

        rows = []
        for name, value in self.policies.items():
            row: dict[str, Any] = {"policy": name}
            difference = self.differences.get(name)
            row.update(zip(("difference", "difference_lower", "difference_upper"), difference or (math.nan,) * 3))
            for field, number in value.items():
                if isinstance(number, Interval):
                    row.update({field: number.estimate, f"{field}_lower": number.lower, f"{field}_upper": number.upper})
                else:
                    row[field] = number
            rows.append(row)
        return pd.DataFrame(rows).set_index("policy")

    def plot(self, ax: Any = None) -> Any:
        """Differences to the first policy over the log, with the interval that holds at all times, by matplotlib."""
        import matplotlib.pyplot as plt

        ax = ax or plt.gca()
        ax.axhline(0, color="black", lw=0.5)
        for i, name in enumerate(self.differences):
            points = [(t, d[i]) for t, d in self.curve if math.isfinite(d[i].lower)]
            line = ax.plot([t for t, _ in points], [d.estimate for _, d in points], label=name)[0]
            ax.fill_between([t for t, _ in points], [d.lower for _, d in points], [d.upper for _, d in points], alpha=0.25, color=line.get_color())
        ax.set_xscale("log")
        ax.set_xlabel("logged rounds")
        ax.set_ylabel(f"difference to {next(iter(self.policies))}, a round")
        if self.differences:
            ax.legend()
        return ax

    def __str__(self) -> str:
        first = next(iter(self.policies))
        lines = [f"{self.rounds} rounds" + (f", {self.missing} without a reward are left out" if self.missing else "")]
        for name, d in self.differences.items():
            value = self.policies[name]
            if d.lower > 0 or d.upper < 0:
                word = "better" if d.lower > 0 else "worse"
                low, high = (d.lower, d.upper) if d.lower > 0 else (-d.upper, -d.lower)
                unless = " unless it learned from this log" if self._saved & {name, first} else ""
                lines.append(f"{name} is {word} than {first} by {abs(d.estimate):.4g} [{low:.4g}, {high:.4g}], valid at any time{unless}.")
            else:
                lines.append(f"Whether {name} is better than {first} cannot be said: {d.estimate:.4g} [{d.lower:.4g}, {d.upper:.4g}]; effective "
                             f"sample {value['effective']:.0f}, largest weight {value['largest']:.3g}, supported {100 * value['supported']:.1f}%.")
        for name, value in self.policies.items():
            if not value["peek"].lower <= 0 <= value["peek"].upper:
                lines.append(f"peek: {name} knows which arm was drawn; its numbers mean nothing.")
            elif not value["weight"].lower <= 1 <= value["weight"].upper:
                lines.append(f"weights: those of {name} average {value['weight'].estimate:.4g} instead of 1: its probabilities or the log's are wrong.")
        if self.audit.p < 0.001:
            lines.append(f"propensities: arms were not drawn as logged (p = {self.audit.p:.2g}); no interval can be trusted.")
        return "\n".join(lines)


def _python(value: Any) -> Any:
    return Interval(value.estimate, value.lower, value.upper) if isinstance(value, ffi.CData) else value


def evaluate(
    log: Any,
    policies: Iterable[Any] | Mapping[str, Policy] = ("logged", "uniform"),
    learners: Iterable[str] = (),
    *,
    level: float = 0.95,
    range: tuple[float, float] = (0, 1),
    horizon: float = 10000,
    schema: Schema | None = None,
    arms: Arms = None,
    by: By = None,
) -> Evaluation:
    """What policies would have earned, from a log that somebody else's decisions made.

    log       dictionaries, or JSON lines (a path, .gz too), with 'arm' (the index played), 'pmf' (the probabilities of all arms), 'r'
              or 'reward', and perhaps 'x' (contexts, a row for each arm), 'arms' (ids), 'round', 'policies'; or a frame, a CSV,
              dsjson or the Open Bandit Dataset, as docs/evaluation.md has them
    policies  'logged', 'uniform', 'arm=ID', 'column:NAME', a Bandit as it is, or a function of a row that returns the probabilities
              of its arms. It is not shown what was drawn or earned. Others are compared with the first. A list, or name -> policy
    learners  specs of bandits that learn from the log, each asked before it learns a row
    level     of confidence of all intervals
    range     what rewards are known to be within, for levels
    horizon   rounds at which intervals are tightest
    schema    makes contexts of features by name ('user', 'actions', ...; in tables, columns with a dot). Rows that say that another
              schema made them are refused, unless this one only appends terms to it
    arms      where a table has only the played arm's probability: how many arms there are (they are called 0, 1, ...), or their ids
    by        a column of the log, as "user.device", or a function of a row: the result's `groups` has an evaluation for each of its values

    >>> import gbose, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> log = []
    >>> for t in range(3000):                            # two arms, the second one is better by 0.2; the level moves
    ...     arm = int(rng.random() < 0.5)
    ...     level = 0.4 + 0.3 * np.sin(t / 100)
    ...     log.append({"arm": arm, "pmf": [0.5, 0.5], "r": float(rng.random() < level + 0.2 * arm - 0.1)})
    >>> result = gbose.evaluate(log, ["uniform", "arm=1", ("mine", lambda row: [0.2, 0.8])])
    >>> result.differences["arm=1"].lower < 0.1 < result.differences["arm=1"].upper
    True
    """
    named = _named(policies)
    live: dict[int, Bandit | None] = {}
    for spec in [learners] if isinstance(learners, str) else learners:
        live[len(named)] = None
        named.append((spec, spec))
    if not named:
        raise Error("no policy is asked about")
    _check_names([name for name, _ in named])
    if not 0 < level < 1:
        raise Error(f"level must be between 0 and 1, as 0.95; got {level}")
    options = ffi.new("gbose_evaluation_options *", lib.gbose_evaluation_defaults())
    options.alpha, options.low, options.high, options.horizon = 1 - level, range[0], range[1], horizon
    err, box = ffi.new("gbose_error *"), ffi.new("gbose_evaluation **")
    logged, e = _Logged(schema), None
    rounds = missing = 0
    next_point, curve, difference = 50.0, [], ffi.new("gbose_difference *")
    groups: dict[str, Any] = {}

    def new(dim: int) -> Any:
        check(lib.gbose_evaluation_new(box, len(named), dim, options, err), err)
        return ffi.gc(box[0], lib.gbose_evaluation_free)

    for number, row in enumerate(rows(log, arms)):
        if not logged.read(row, number):
            missing += 1
            continue
        dim = 0 if logged.x is None else logged.x.shape[1]
        if e is None:
            e, width = new(dim), dim
        if dim != width:
            raise Error(f"row {number}: contexts have {dim} features, and those before had {width}" if "pmf" in row else
                        f"row {number}: only the played arm's probability is logged, and before it those of all arms were")
        arrays = []
        for i, (name, policy) in enumerate(named):
            if i in live:
                if live[i] is None:
                    if not dim:
                        raise Error(f"row {number}: there are no contexts ('x'), which learner {name} needs")
                    live[i] = Bandit(str(policy), seed=1, schema=schema) if schema else Bandit(str(policy), dim=dim, seed=1)
                policy = live[i]  # type: ignore[assignment]
            try:
                a = np.ascontiguousarray(_pmf(policy, name, row, logged, number), dtype=np.float64)
            except Error:
                raise
            except (TypeError, ValueError) as error:
                raise Error(f"row {number}: {name} must give the probabilities of {len(logged.pmf)} arms: {error}") from error
            if a.shape != logged.pmf.shape:
                raise Error(f"row {number}: {name} gives probabilities of the shape {a.shape} for {len(logged.pmf)} arms")
            arrays.append(a)
        pointers = ffi.new("const double *[]", [ffi.from_buffer("double[]", a) for a in arrays])
        into = [e]
        if by is not None:
            group = groups.setdefault(_group_of(by, row), [None, 0])
            group[0] = group[0] or new(dim)
            group[1] += 1
            into.append(group[0])
        for evaluation in into:
            if lib.gbose_evaluation_add(evaluation, logged.c, pointers, err):
                raise Error(f"row {number}: {ffi.string(err.text).decode()}")
        for bandit in live.values():
            assert bandit is not None
            features = logged.round if bandit.round_features else None
            bandit.learn(bandit.ticket_for(logged.x, logged.pmf, logged.arm, features), logged.c.reward)
        rounds += 1
        if rounds >= next_point:
            next_point = max(next_point + 1, next_point * 1.04)
            points = []
            for i in builtins.range(1, len(named)):
                check(lib.gbose_evaluation_difference(e, i, difference))
                points.append(_python(difference.phi))
            curve.append((rounds, points))
    if e is None:
        raise Error("the log has no row with a reward")
    names = [name for name, _ in named]
    saved = [name for name, policy in named if isinstance(policy, Bandit)]
    result = Evaluation(names, e, rounds, missing, curve, level, saved)
    _check_groups(by, groups)
    result.groups = {value: Evaluation(names, evaluation, count, 0, [], level, saved) for value, (evaluation, count) in groups.items()}
    return result


def effects(
    log: Any, x: Mapping[str, Sequence[float]] | None = None, *, unit: bool = False, level: float = 0.95, schema: Schema | None = None,
    by: By = None,
) -> Effects:
    """What features of the arms do to the reward, from a log with contexts and the probabilities of all arms.

    log     as for evaluate(); 'x' is needed, or features by name and a schema
    x       name -> row of features; without it, every feature by itself, by the names that the schema gives them
    unit    errors are clustered by the log's 'unit'
    level   of confidence
    schema  as for evaluate()
    by      as for evaluate(): effects apart for each value, as "action.price, user.device=ios"

    What the log does not identify, because chance never chose between arms that differ in it, is in `unknown` of the result.
    """
    if not 0 < level < 1:
        raise Error(f"level must be between 0 and 1, as 0.95; got {level}")
    err, box = ffi.new("gbose_error *"), ffi.new("gbose_effects **")
    logged, dim = _Logged(schema), 0
    columns: list[str] | None = None
    groups: dict[str, Any] = {}
    for number, row in enumerate(rows(log)):
        if not logged.read(row, number):
            continue
        if "pmf" not in row:
            raise Error(f"row {number}: only the played arm's probability is logged; effects need those of all arms ('pmf')")
        if logged.x is None:
            raise Error(f"row {number}: there are no contexts ('x'); schema= makes them of features by name")
        if unit and row.get("unit") is None:
            raise Error(f"row {number}: there is no 'unit' to tell units apart")
        dim = dim or logged.x.shape[1]
        columns = columns or row.get(COLUMNS)
        if logged.x.shape[1] != dim:
            raise Error(f"row {number}: contexts have {logged.x.shape[1]} features, and those before had {dim}")
        group = "" if by is None else _group_of(by, row)
        if group not in groups:
            check(lib.gbose_effects_new(box, dim, int(unit), err), err)
            groups[group] = ffi.gc(box[0], lib.gbose_effects_free)
        if lib.gbose_effects_add(groups[group], logged.c, err):
            raise Error(f"row {number}: {ffi.string(err.text).decode()}")
    if not groups:
        raise Error("the log has no row with a reward")
    _check_groups(by, groups)
    value = ffi.new("gbose_effect_value *")
    columns = schema.columns if schema is not None else columns or [f"x{i}" for i in builtins.range(dim)]
    out = Effects()
    for group, f in groups.items():

        def ask(features: Any, f: Any = f) -> dict[str, Any] | None:
            a = np.ascontiguousarray(features, dtype=np.float64)
            if a.shape != (dim,):
                raise Error(f"a row of x has the shape {a.shape}, and contexts have {dim} features")
            if not np.isfinite(a).all():
                raise Error(f"a row of x must have finite numbers; got {a}")
            code = lib.gbose_effects_at(f, ffi.from_buffer("double[]", a), level, value)
            if code == lib.GBOSE_EUNSEEN:
                return None
            check(code)
            return {"estimate": value.estimate, "error": value.error, "lower": value.fixed.lower, "upper": value.fixed.upper,
                    "anytime_lower": value.anytime.lower, "anytime_upper": value.anytime.upper, "rounds": value.rounds, "units": value.units}

        found = collect(columns, x, schema, ask)
        end = "" if by is None else f", {by if isinstance(by, str) else getattr(by, '__name__', 'by')}={group}"
        out += [{**row, "effect": row["effect"] + end} for row in found]
        out.unknown += [name + end for name in found.unknown]
    return out
