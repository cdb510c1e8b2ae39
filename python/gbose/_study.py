"""simulate(): learners in simulated worlds, played by the C engine."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._bandit import Array, Number, _within, as_doubles
from ._errors import Error, check
from ._gbose import ffi, lib
from ._palette import colour, looks
from ._table import learners as all_learners
from ._world import Round

# A learner or a world of a study: a spec, something that makes one of your own, or either with a name before it.
Entry = Union[str, Callable[..., Any], "tuple[str, Union[str, Callable[..., Any]]]"]

_FAILED = -1000  # what a callback returns after it has put its exception aside


# ---- learners and worlds written in Python ----


class _Session:
    """What the callbacks of a study share: the first exception, and whether to give up."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.alive: dict[Any, Any] = {}  # handles that C holds

    def handle(self, thing: Any) -> Any:
        handle = ffi.new_handle(thing)
        self.alive[handle] = handle
        return handle

    def fail(self, error: BaseException) -> int:
        if self.error is None:
            self.error = error
        return _FAILED


def _seed(seed: int, repetition: int, purpose: int) -> int:
    """A seed of 32 bits for one party of one repetition: learners and worlds of one study do not share random
    numbers."""
    return int(np.random.SeedSequence([seed, repetition, purpose]).generate_state(1)[0])


class _PythonLearner:
    def __init__(self, session: _Session, make: Callable[..., Any]) -> None:
        self.session = session
        self.make = make


class _LearnerRun:
    def __init__(self, session: _Session, learner: Any, dim: int) -> None:
        self.session = session
        self.learner = learner
        self.dim = dim
        self.contexts: Array
        self.choice: Any = None
        self.arm = -1


class _PythonWorld:
    def __init__(self, session: _Session, make: Callable[..., Any], dim: int) -> None:
        self.session = session
        self.make = make
        self.dim = dim


class _WorldRun:
    def __init__(self, session: _Session, world: Any, dim: int) -> None:
        self.session = session
        self.world = world
        self.dim = dim
        self.round: Any = None  # keeps the arrays that C reads


def _interrupted(kind: Any, error: BaseException, traceback: Any) -> None:
    """An exception before the first line of py_progress(): that is where Ctrl-C strikes."""
    ffi.from_handle(traceback.tb_frame.f_locals["user"])[0].fail(error)


@ffi.def_extern(error=1, onerror=_interrupted)
def py_progress(user: Any, done: int, needed: int) -> int:
    session, progress = ffi.from_handle(user)
    try:
        if progress is not None:
            progress(done, needed)
    except BaseException as error:  # KeyboardInterrupt above all
        session.fail(error)
    return int(session.error is not None)


@ffi.def_extern(error=_FAILED)
def py_learner_begin(state: Any, user: Any, dim: int, seed: int, repetition: int, err: Any) -> int:
    entry: _PythonLearner = ffi.from_handle(user)
    try:
        learner = entry.make(dim=dim, seed=_seed(seed, repetition, 1))
        state[0] = entry.session.handle(_LearnerRun(entry.session, learner, dim))
    except BaseException as error:
        return entry.session.fail(error)
    return 0


def _choice(choice: Any) -> tuple[int, float]:
    """The arm and its probability (NaN: unknown) in what decide() returned."""
    if hasattr(choice, "arm"):
        return int(choice.arm), float(getattr(choice, "probability", np.nan))
    if isinstance(choice, tuple):
        arm, probability = choice
        return _within(arm, 2**63, "the arm"), float(probability)
    return _within(choice, 2**63, "the arm"), np.nan


@ffi.def_extern(error=_FAILED)
def py_learner_decide(state: Any, arm: Any, probability: Any, contexts: Any, n_arms: int, err: Any) -> int:
    run: _LearnerRun = ffi.from_handle(state)
    try:
        if run.session.error is not None:
            return _FAILED
        run.contexts = np.frombuffer(ffi.buffer(contexts, 8 * n_arms * run.dim)).reshape(n_arms, run.dim).copy()
        run.choice = run.learner.decide(run.contexts)
        run.arm, probability[0] = _choice(run.choice)
        if not 0 <= run.arm < n_arms:
            raise Error(f"{type(run.learner).__name__}.decide() chose arm {run.arm} of {n_arms}")
        arm[0] = run.arm
    except BaseException as error:
        return run.session.fail(error)
    return 0


@ffi.def_extern(error=_FAILED)
def py_learner_learn(state: Any, reward: float, err: Any) -> int:
    run: _LearnerRun = ffi.from_handle(state)
    try:
        if hasattr(run.choice, "ticket"):
            run.learner.learn(run.choice.ticket, reward)
        else:
            run.learner.learn(run.contexts, run.arm, reward)
    except BaseException as error:
        return run.session.fail(error)
    return 0


@ffi.def_extern(error=_FAILED)
def py_world_begin(state: Any, user: Any, seed: int, repetition: int, err: Any) -> int:
    entry: _PythonWorld = ffi.from_handle(user)
    try:
        world = entry.make(seed=_seed(seed, repetition, 2))
        state[0] = entry.session.handle(_WorldRun(entry.session, world, entry.dim))
    except BaseException as error:
        return entry.session.fail(error)
    return 0


@ffi.def_extern(error=_FAILED)
def py_world_next(state: Any, number: int, out: Any, err: Any) -> int:
    run: _WorldRun = ffi.from_handle(state)
    try:
        if run.session.error is not None:
            return _FAILED
        made = Round(*run.world.next())
        contexts = as_doubles(made.contexts, "contexts of a world", (None, run.dim))
        means = as_doubles(made.means, "means of a world", (len(contexts),))
        run.round = ffi.from_buffer("double[]", contexts), ffi.from_buffer("double[]", means)
        out.n_arms = len(contexts)
        out.contexts, out.means = run.round
        out.shift, out.noise = made.shift, made.noise
    except BaseException as error:
        return run.session.fail(error)
    return 0


@ffi.def_extern(error=_FAILED)
def py_world_observe(state: Any, arm: int, reward: float, err: Any) -> int:
    run: _WorldRun = ffi.from_handle(state)
    try:
        if hasattr(run.world, "observe"):
            run.world.observe(arm, reward)
    except BaseException as error:
        return run.session.fail(error)
    return 0


@ffi.def_extern()
def py_end(state: Any) -> None:
    del ffi.from_handle(state).session.alive[state]


# ---- putting a study together ----


def _named(entry: Entry) -> tuple[str | None, str | Callable[..., Any]]:
    name: str | None = None
    thing: Any = entry
    if isinstance(entry, tuple):
        if len(entry) != 2 or not isinstance(entry[0], str):
            raise TypeError("a tuple in a study is (name, spec or callable)")
        name, thing = entry
    if not isinstance(thing, str) and not callable(thing):
        raise TypeError(f"a study takes specs and callables, not {type(thing).__name__}")
    return name, thing


def _name_of(thing: Any) -> str:
    return str(getattr(thing, "__name__", type(thing).__name__))


def _sweep_of(spec: str, sweep: Mapping[str, Sequence[Number]], used: set[str]) -> str | None:
    """The option among those swept that the learner of this spec has."""
    name = spec.split(":")[0]
    options = {o.name for info in all_learners() if info.name == name for o in info.options}
    swept = [o for o in sweep if o.rstrip("_") in options]
    if len(swept) > 1:
        raise Error(f"two sweeps for '{spec}'; one option at a time can be swept", "ESPEC")
    used.update(swept)
    return swept[0] if swept else None


def _add_learner(
    s: Any, entry: Entry, sweep: Mapping[str, Sequence[Number]], used: set[str], session: _Session
) -> None:
    err = ffi.new("gbose_error *")
    name, thing = _named(entry)
    if not isinstance(thing, str):
        label, user = ffi.new("char[]", (name or _name_of(thing)).encode()), session.handle(
            _PythonLearner(session, thing)
        )
        begin, decide, learn, end = lib.py_learner_begin, lib.py_learner_decide, lib.py_learner_learn, lib.py_end
        joined = ffi.new("gbose_study_learner *", (label, user, begin, decide, learn, end))
        check(lib.gbose_study_join_learner(s, joined, err), err)
        return
    option = _sweep_of(thing, sweep, used)
    texts = [ffi.new("char[]", str(v).encode()) for v in sweep[option]] if option else []
    values = ffi.new("char *[]", texts)
    label = ffi.new("char[]", name.encode()) if name else ffi.NULL
    swept = option.rstrip("_").encode() if option else ffi.NULL
    check(lib.gbose_study_add_learner(s, thing.encode(), label, swept, values, len(texts), err), err)


def _add_world(s: Any, entry: Entry, session: _Session) -> None:
    err = ffi.new("gbose_error *")
    name, thing = _named(entry)
    if isinstance(thing, str):
        if name:
            raise TypeError("a world given by its spec is called by it; leave out the name")
        check(lib.gbose_study_add_world(s, thing.encode(), err), err)
        return
    sample = thing(seed=0)
    dim, arms = _within(sample.dim, 2**31, "dim"), _within(sample.arms, 2**31, "arms")
    label, user = ffi.new("char[]", (name or _name_of(thing)).encode()), session.handle(
        _PythonWorld(session, thing, dim)
    )
    begin, following, observe, end = lib.py_world_begin, lib.py_world_next, lib.py_world_observe, lib.py_end
    joined = ffi.new("gbose_study_world *", (label, user, dim, arms, begin, following, observe, end))
    check(lib.gbose_study_join_world(s, joined, err), err)


def _entries(entries: Entry | Iterable[Entry]) -> list[Entry]:
    if isinstance(entries, (str, tuple)) or callable(entries):
        return [entries]  # type: ignore[list-item]
    return list(entries)


def simulate(
    worlds: Entry | Iterable[Entry],
    learners: Entry | Iterable[Entry],
    rounds: int = 10000,
    reps: int = 10,
    sweep: Mapping[str, Sequence[Number]] | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Study:
    """Play every learner in every world, on all cores and without the GIL. The numbers are those of the command
    `gbose simulate` for the same study, whatever the number of threads.

    worlds    specs such as "paper:shift=log-sine"; or classes of your own
    learners  specs such as "gbose:gamma=0.1"; or classes of your own. ("name", spec or class) gives it a name.
    rounds    of a repetition
    reps      repetitions: all learners meet the same rounds
    sweep     {"gamma": [0.05, 0.1, 0.2]}: learners that have the option are tried with each value. The one of least
              median regret is played again in as many fresh repetitions.
    threads   runs side by side; None: as many as there are cores
    progress  called now and then with the number of runs done and of all
    out       a directory, made if it is missing: every run is kept there as it ends, and the same call goes on from what is
              there after it was stopped or killed. `gbose simulate --out` on it writes tables, figures and a report.
              Learners and worlds of your own are known by their names alone: after a change of code, take another
              name or another directory.

    A learner of your own is a class (or any callable) that is called once for every run with dim= and seed=. It has

        decide(contexts)               the arm; or (arm, the probability it was chosen with)
        learn(contexts, arm, reward)

    or decide() returns something with the attributes arm and ticket, and learn(ticket, reward) follows, as with Bandit.

    A world of your own is called with seed=. It has the attributes dim and arms (the most there are), and

        next()                         Round(contexts, means, shift, noise); the last two may be left out
        observe(arm, reward)           if it wants to know

    Python code runs one run at a time, beside the C code of the others.

    >>> import gbose
    >>> class First:
    ...     def __init__(self, dim, seed): ...
    ...     def decide(self, contexts): return 0
    ...     def learn(self, contexts, arm, reward): ...
    >>> study = gbose.simulate("paper:arms=2,dim=3", ["gbose", First], rounds=500, reps=3)
    >>> study.learners
    ['gbose', 'First']
    >>> study.regret(learner="gbose").shape
    (3,)
    >>> bool(study.regret(learner="gbose").max() < study.regret(learner="First").min())
    True
    """
    session, sweep, used = _Session(), dict(sweep or {}), set[str]()
    made, err = ffi.new("gbose_study **"), ffi.new("gbose_error *")
    for option, values in sweep.items():
        if isinstance(values, str) or not len(values):
            raise Error(f"sweep: {option} needs a list of values", "ESPEC")
    rounds, reps = _within(rounds, 10**12 + 1, "rounds"), _within(reps, 10**6 + 1, "reps")
    seed, threads = _within(seed, 2**63, "seed"), _within(threads or _cores(), 1025, "threads")
    check(lib.gbose_study_new(made, rounds, reps, seed, err), err)
    s = ffi.gc(made[0], lib.gbose_study_free)
    try:
        for world in _entries(worlds):
            _add_world(s, world, session)
        for learner in _entries(learners):
            _add_learner(s, learner, sweep, used, session)
        for option in sweep:
            if option not in used:
                raise Error(f"no learner has the option '{option}' of the sweep", "ESPEC")
        if out is not None:
            check(lib.gbose_study_keep(s, os.fsencode(out), err), err)
        watch = ffi.new_handle((session, progress))
        code = lib.gbose_study_play(s, threads, lib.py_progress, watch, err)
        if session.error is not None:
            raise session.error
        check(code, err)
        return _read(s)
    finally:
        ffi.release(s)  # now, and not when the last traceback is forgotten: it holds the directory


def _cores() -> int:
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 1024)


# ---- results ----


class Summary(NamedTuple):
    """How a learner did in a world: final regret with the value of the swept option that came out best (`value`, "" if
    none was swept), over the fresh repetitions if there are any, else over all."""

    world: str
    learner: str
    value: str
    n: int
    median: float
    low: float  # the lower quartile
    high: float  # the upper quartile
    reward: float  # mean of the sums of rewards


class Study:
    """What simulate() returns.

    worlds, learners   their names, in the order given
    values             for each learner the values of the swept option as text: [""] if there is none
    points             (n_points,) the rounds at which curves have their points
    runs               (n_runs,) a structured array with a row for each run: world, learner and value (indices into the
                       above), repetition, fresh, regret (at the end), reward (sum), lone (share of rounds in which the
                       arm had probability 1)
    curves             (n_runs, n_points) cumulative regret
    summary            a list of Summary, one for each world and learner; print(study) shows it
    """

    RUN = np.dtype(
        [
            ("world", np.int64),
            ("learner", np.int64),
            ("value", np.int64),
            ("repetition", np.int64),
            ("fresh", np.bool_),
            ("regret", np.float64),
            ("reward", np.float64),
            ("lone", np.float64),
        ]
    )

    def __init__(
        self,
        worlds: list[str],
        learners: list[str],
        values: list[list[str]],
        best: list[list[int]],
        points: NDArray[np.int64],
        runs: Any,
        curves: NDArray[np.float32],
    ) -> None:
        self.worlds = worlds
        self.learners = learners
        self.values = values
        self.points = points
        self.runs = runs
        self.curves = curves
        self._best = best
        self.summary = [self._summarise(w, l) for w in range(len(worlds)) for l in range(len(learners))]

    def _index(self, names: list[str], which: str | int, what: str) -> int:
        if isinstance(which, str):
            if which not in names:
                raise KeyError(f"no {what} '{which}' in this study; there is {', '.join(names)}")
            return names.index(which)
        return range(len(names))[which]

    def _select(self, world: int, learner: int, fresh: bool) -> NDArray[np.bool_]:
        r = self.runs
        chosen: NDArray[np.bool_] = (
            (r["world"] == world)
            & (r["learner"] == learner)
            & (r["value"] == self._best[world][learner])
            & (r["fresh"] == (fresh and bool(r["fresh"].any())))
        )
        return chosen

    def regret(self, world: str | int = 0, learner: str | int = 0) -> Array:
        """Final regret by repetition, with the value that came out best: the fresh repetitions if there are any."""
        w, l = self._index(self.worlds, world, "world"), self._index(self.learners, learner, "learner")
        regret: Array = self.runs["regret"][self._select(w, l, fresh=True)]
        return regret

    def curve(self, world: str | int = 0, learner: str | int = 0) -> NDArray[np.float32]:
        """Cumulative regret (repetitions, n_points) with the value that came out best, over the first repetitions."""
        w, l = self._index(self.worlds, world, "world"), self._index(self.learners, learner, "learner")
        return self.curves[self._select(w, l, fresh=False)]

    def _summarise(self, world: int, learner: int) -> Summary:
        which = self._select(world, learner, fresh=True)
        low, median, high = np.quantile(self.runs["regret"][which], [0.25, 0.5, 0.75])
        value = self.values[learner][self._best[world][learner]]
        reward = float(self.runs["reward"][which].mean())
        return Summary(
            self.worlds[world],
            self.learners[learner],
            value,
            int(which.sum()),
            float(median),
            float(low),
            float(high),
            reward,
        )

    def __str__(self) -> str:
        rows = [("world", "learner", "value", "regret (median [quartiles])")]
        rows += [
            (s.world, s.learner, s.value or "-", f"{s.median:.1f} [{s.low:.1f}, {s.high:.1f}]") for s in self.summary
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows)

    def __repr__(self) -> str:
        return f"<gbose.Study: {len(self.worlds)} worlds, {len(self.learners)} learners, {len(self.runs)} runs>"

    def to_pandas(self) -> Any:
        """All runs as a pandas DataFrame, with names instead of indices. Needs pandas."""
        import pandas

        frame = pandas.DataFrame(self.runs)
        frame["value"] = [self.values[l][v] for l, v in zip(self.runs["learner"], self.runs["value"])]
        frame["world"] = [self.worlds[w] for w in self.runs["world"]]
        frame["learner"] = [self.learners[l] for l in self.runs["learner"]]
        return frame

    def plot(self) -> Any:
        """A matplotlib figure: for each world the median of cumulative regret, with quartiles, in the colours of the
        command's figures. All worlds share one scale, which is logarithmic where final regrets are far apart. Needs
        matplotlib.

        `study.plot().savefig("regret.png")` writes it to a file."""
        from matplotlib.figure import Figure

        n, look = len(self.worlds), looks(self.learners)
        figure = Figure(figsize=(1.5 + 5.0 * n, 4.5), layout="constrained")
        panels = figure.subplots(1, n, squeeze=False, sharey=True)[0]
        ends = []
        for w, axes in enumerate(panels):
            for l, name in enumerate(self.learners):
                low, median, high = np.quantile(self.curve(w, l), [0.25, 0.5, 0.75], axis=0)
                style = {"color": look[l].colour, "zorder": 2 + look[l].width}
                axes.plot(self.points, median, ls=look[l].dash, lw=look[l].width, label=name, **style)
                axes.fill_between(self.points, low, high, color=look[l].colour, alpha=0.2, linewidth=0)
                ends.append(median[-1])
            axes.set_title(self.worlds[w], fontsize="medium")
            axes.set_xlabel("round")
            axes.set_xlim(0, self.points[-1])
            axes.spines[["top", "right"]].set_visible(False)
        if min(ends) > 0 and max(ends) / min(ends) > 30:
            panels[0].set_yscale("log")
        else:
            panels[0].set_ylim(bottom=0)
        for w, axes in enumerate(panels):
            self._label(axes, ends[w * len(self.learners) : (w + 1) * len(self.learners)])
        panels[0].set_ylabel("cumulative regret")
        return figure

    def _label(self, axes: Any, ends: Sequence[float]) -> None:
        """The learners' names beside the ends of their lines, moved apart where they would overlap."""
        to_share = (axes.transData + axes.transAxes.inverted()).transform
        height, gap = -1.0, 0.055
        shares = [float(to_share((0, end))[1]) for end in ends]
        order = sorted(range(len(ends)), key=lambda l: shares[l])
        room = 1.0 - gap * (len(ends) - 1)
        for rank, l in enumerate(order):
            height = max(min(shares[l], room + gap * rank), height + gap, 0.0)
            axes.annotate(
                self.learners[l],
                xy=(1, shares[l]),
                xytext=(1.03, height),
                xycoords="axes fraction",
                va="center",
                fontsize="small",
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "color": colour(self.learners[l]), "lw": 0.8, "shrinkA": 0, "shrinkB": 0},
            )


def _texts(at: Callable[[int], Any]) -> list[str]:
    texts: list[str] = []
    while at(len(texts)):
        texts.append(ffi.string(at(len(texts))).decode())
    return texts


def _read(s: Any) -> Study:
    worlds = _texts(lambda i: lib.gbose_study_world_name(s, i))
    learners = _texts(lambda i: lib.gbose_study_learner_name(s, i))
    values = [_texts(lambda i, l=l: lib.gbose_study_value(s, l, i)) for l in range(len(learners))]  # type: ignore
    n, which, run = ffi.new("size_t *"), ffi.new("size_t *"), ffi.new("gbose_study_run *")
    points = lib.gbose_study_points(s, n)
    points = np.frombuffer(ffi.buffer(points, 8 * n[0]), np.uint64).astype(np.int64)
    best: list[list[int]] = [[] for _ in worlds]
    for w, row in enumerate(best):
        for l in range(len(learners)):
            check(lib.gbose_study_best(s, w, l, which))
            row.append(which[0])
    done = lib.gbose_study_done(s)
    runs, curves = np.empty(done, Study.RUN), np.empty((done, len(points)), np.float32)
    i = k = 0
    while lib.gbose_study_run_at(s, i, run) == 0:
        i += 1
        if run.done:
            runs[k] = (
                run.world,
                run.learner,
                run.value,
                run.repetition,
                bool(run.fresh),
                run.regret,
                run.reward,
                run.lone,
            )
            curves[k] = np.frombuffer(ffi.buffer(run.curve, 4 * len(points)), np.float32)
            k += 1
    return Study(worlds, learners, values, best, points, runs, curves)
