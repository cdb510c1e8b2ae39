"""Logs: what other policies would have earned, and what features do."""

from __future__ import annotations

import builtins
import gzip
import json
import math
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._bandit import Bandit
from ._errors import Error, check
from ._gbose import ffi, lib

Row = Mapping[str, Any]
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


def _rows(log: Any) -> Iterator[dict[str, Any]]:
    """The rows of a log: a path of JSON lines (plain or .gz), a frame, or dictionaries."""
    if isinstance(log, (str, Path)):
        opened = gzip.open(log, "rt", encoding="utf-8") if str(log).endswith(".gz") else open(log, encoding="utf-8")
        with opened as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise Error(f"{log}, line {number}: {error}") from None
    elif hasattr(log, "to_dict") and hasattr(log, "columns"):
        yield from log.to_dict("records")
    else:
        yield from log


class _Logged:
    """A row as the C library takes it, and the arrays that it points to."""

    def __init__(self, labels: dict[Any, int], units: dict[Any, int]) -> None:
        self.c = ffi.new("gbose_logged *")
        self.labels, self.units = labels, units

    def read(self, row: Row, number: int) -> bool:
        """Take a row; False if it has no reward."""
        reward = row.get("r", row.get("reward"))
        if reward is None or (isinstance(reward, float) and math.isnan(reward)):
            return False
        try:
            self.pmf = np.ascontiguousarray(row["pmf"], dtype=np.float64)
            self.arm = int(row["arm"])
        except (KeyError, TypeError, ValueError) as error:
            raise Error(f"row {number}: 'arm' (an index) and 'pmf' (the probabilities of all arms) are needed: {error}") from None
        if self.pmf.ndim != 1 or not 0 <= self.arm < len(self.pmf):
            raise Error(f"row {number}: 'arm' is {self.arm}, and 'pmf' has the shape {self.pmf.shape}")
        self.x: NDArray[np.float64] | None = None
        if row.get("x") is not None:
            self.x = np.ascontiguousarray(row["x"], dtype=np.float64)
            if self.x.ndim != 2 or len(self.x) != len(self.pmf):
                raise Error(f"row {number}: 'x' must have a row for each of {len(self.pmf)} arms; its shape is {self.x.shape}")
        c = self.c
        c.n_arms, c.arm, c.reward = len(self.pmf), self.arm, float(reward)
        c.pmf = ffi.from_buffer("double[]", self.pmf)
        c.contexts = ffi.from_buffer("double[]", self.x) if self.x is not None else ffi.NULL
        c.label = ffi.NULL
        if row.get("arms") is not None:
            self.label = ffi.new("size_t[]", [self.labels.setdefault(a, len(self.labels)) for a in row["arms"]])
            c.label = self.label
        unit = row.get("unit")
        c.unit = 0 if unit is None else self.units.setdefault(unit, len(self.units))
        return True


def _named(policies: Any) -> list[tuple[str, Policy]]:
    if isinstance(policies, Mapping):
        return list(policies.items())
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


# What a policy may not see: it must decide from what was known before the draw.
_HIDDEN = frozenset(("r", "reward", "arm", "rt", "why"))


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
        return policy.decide_at(logged.x, row.get("round"), stream=2**32 - 1, number=number).pmf
    if callable(policy):
        return policy({key: value for key, value in row.items() if key not in _HIDDEN})
    raise Error(f"unknown policy {policy!r}: there are 'logged', 'uniform', 'arm=ID', 'column:NAME', a Bandit, or a function of a row")


class Evaluation:
    """What a log says about policies. print() it; frame() and plot() show more.

    policies     name -> value: the library's numbers for each, as attributes (ips, dr, level, effective, supported, ...)
    differences  name -> Interval: to the first policy, a round, valid at any time
    audit        Audit
    rounds, missing   rows that counted, and rows without a reward
    """

    def __init__(self, names: list[str], e: Any, rounds: int, missing: int, curve: list[tuple[int, list[Interval]]], level: float) -> None:
        self.rounds, self.missing, self.level = rounds, missing, level
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
                lines.append(f"{name} is {word} than {first} by {abs(d.estimate):.4g} [{low:.4g}, {high:.4g}], valid at any time.")
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
) -> Evaluation:
    """What policies would have earned, from a log that somebody else's decisions made.

    log       JSON lines (a path, .gz too), a frame, or dictionaries, with 'arm' (the index played), 'pmf' (the probabilities of
              all arms), 'r' or 'reward', and perhaps 'x' (contexts, a row for each arm), 'arms' (ids), 'round', 'policies'
    policies  'logged', 'uniform', 'arm=ID', 'column:NAME', a Bandit as it is, or a function of a row that returns the probabilities
              of its arms. It is not shown what was drawn or earned. Others are compared with the first. A list, or name -> policy
    learners  specs of bandits that learn from the log, each asked before it learns a row
    level     of confidence of all intervals
    range     what rewards are known to be within, for levels
    horizon   rounds at which intervals are tightest

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
    for spec in learners:
        live[len(named)] = None
        named.append((spec, spec))
    if not named:
        raise Error("no policy is asked about")
    options = ffi.new("gbose_evaluation_options *", lib.gbose_evaluation_defaults())
    options.alpha, options.low, options.high, options.horizon = 1 - level, range[0], range[1], horizon
    err, box = ffi.new("gbose_error *"), ffi.new("gbose_evaluation **")
    logged, e = _Logged({}, {}), None
    rounds = missing = 0
    next_point, curve, difference = 50.0, [], ffi.new("gbose_difference *")
    for number, row in enumerate(_rows(log)):
        if not logged.read(row, number):
            missing += 1
            continue
        dim = 0 if logged.x is None else logged.x.shape[1]
        if e is None:
            check(lib.gbose_evaluation_new(box, len(named), dim, options, err), err)
            e = ffi.gc(box[0], lib.gbose_evaluation_free)
            width = dim
        if dim != width:
            raise Error(f"row {number}: contexts have {dim} features, and those before had {width}")
        arrays = []
        for i, (name, policy) in enumerate(named):
            if i in live:
                if live[i] is None:
                    if not dim:
                        raise Error(f"row {number}: there are no contexts ('x'), which learner {name} needs")
                    live[i] = Bandit(str(policy), dim=dim, seed=1)
                policy = live[i]  # type: ignore[assignment]
            a = np.ascontiguousarray(_pmf(policy, name, row, logged, number), dtype=np.float64)
            if a.shape != logged.pmf.shape:
                raise Error(f"row {number}: {name} gives probabilities of the shape {a.shape} for {len(logged.pmf)} arms")
            arrays.append(a)
        pointers = [ffi.from_buffer("double[]", a) for a in arrays]
        code = lib.gbose_evaluation_add(e, logged.c, ffi.new("const double *[]", pointers), err)
        if code:
            raise Error(f"row {number}: {ffi.string(err.text).decode()}")
        for bandit in live.values():
            assert bandit is not None
            bandit.learn(bandit.ticket_for(logged.x, logged.pmf, logged.arm, row.get("round")), logged.c.reward)
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
    return Evaluation([name for name, _ in named], e, rounds, missing, curve, level)





class Effects(list[Any]):
    """Effects, each a dictionary: effect, estimate, error, lower, upper (for one look), anytime_lower, anytime_upper. frame() and plot()."""

    def frame(self) -> Any:
        """A pandas frame, a row for each effect."""
        import pandas as pd

        return pd.DataFrame(self).set_index("effect")

    def plot(self, ax: Any = None) -> Any:
        """A forest plot by matplotlib: thick for one look, thin for looks as often as one likes."""
        import matplotlib.pyplot as plt

        ax = ax or plt.gca()
        for i, row in enumerate(self):
            y = len(self) - i
            if math.isfinite(row["anytime_lower"]):
                ax.plot([row["anytime_lower"], row["anytime_upper"]], [y, y], color="C0", lw=1)
            ax.plot([row["lower"], row["upper"]], [y, y], color="C0", lw=3)
            ax.plot(row["estimate"], y, "o", color="C0")
        ax.axvline(0, color="black", lw=0.5)
        ax.set_yticks(builtins.range(len(self), 0, -1), [row["effect"] for row in self])
        ax.set_xlabel("effect on the reward, for each unit")
        return ax

    def __str__(self) -> str:
        return "\n".join(f"{r['effect']}: {r['estimate']:.4g} [{r['lower']:.4g}, {r['upper']:.4g}], at any time "
                         f"[{r['anytime_lower']:.4g}, {r['anytime_upper']:.4g}]" for r in self)


def effects(log: Any, x: Mapping[str, Sequence[float]] | None = None, *, unit: bool = False, level: float = 0.95) -> Effects:
    """What features of the arms do to the reward, from a log with contexts and the probabilities of all arms.

    log    as for evaluate(); 'x' is needed
    x      name -> row of features; without it, every feature by itself
    unit   errors are clustered by the log's 'unit'
    level  of confidence

    What the log does not identify, because chance never chose between arms that differ in it, is left out.
    """
    err, box, f = ffi.new("gbose_error *"), ffi.new("gbose_effects **"), None
    logged, dim = _Logged({}, {}), 0
    for number, row in enumerate(_rows(log)):
        if not logged.read(row, number):
            continue
        if logged.x is None:
            raise Error(f"row {number}: there are no contexts ('x')")
        if f is None:
            dim = logged.x.shape[1]
            check(lib.gbose_effects_new(box, dim, int(unit), err), err)
            f = ffi.gc(box[0], lib.gbose_effects_free)
        if logged.x.shape[1] != dim:
            raise Error(f"row {number}: contexts have {logged.x.shape[1]} features, and those before had {dim}")
        if lib.gbose_effects_add(f, logged.c, err):
            raise Error(f"row {number}: {ffi.string(err.text).decode()}")
    if f is None:
        raise Error("the log has no row with a reward")
    asked = x if x is not None else {f"x{i}": np.eye(dim)[i] for i in builtins.range(dim)}
    out, value = Effects(), ffi.new("gbose_effect_value *")
    for name, features in asked.items():
        a = np.ascontiguousarray(features, dtype=np.float64)
        if a.shape != (dim,):
            raise Error(f"{name} has the shape {a.shape}, and contexts have {dim} features")
        code = lib.gbose_effects_at(f, ffi.from_buffer("double[]", a), level, value)
        if code == lib.GBOSE_EUNSEEN:
            continue
        check(code)
        out.append({"effect": name, "estimate": value.estimate, "error": value.error, "lower": value.fixed.lower, "upper": value.fixed.upper,
                    "anytime_lower": value.anytime.lower, "anytime_upper": value.anytime.upper, "rounds": value.rounds, "units": value.units})
    return out
