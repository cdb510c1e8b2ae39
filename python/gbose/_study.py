"""simulate(): learners in simulated worlds, played by the C engine."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

import numpy as np

from ._arguments import Array, Number, as_doubles, option_text, within
from ._errors import Error, check
from ._gbose import ffi, lib
from ._progress import Bar, watched
from ._results import Study
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
        if isinstance(probability, str):
            raise TypeError("the probability of an arm must be a number, not str")
        return within(arm, 2**63, "the arm"), float(probability)
    return within(choice, 2**63, "the arm"), np.nan


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
            raise Error(f"{type(run.learner).__name__}.decide() chose arm {run.arm}, but the arms are 0 to {n_arms - 1}")
        if probability[0] < 0 or probability[0] > 1:  # NaN: it did not say
            raise Error(f"{type(run.learner).__name__}.decide() returned the probability {probability[0]:g}; it must be from 0 to 1")
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
    texts = [ffi.new("char[]", option_text(option, v).encode()) for v in sweep[option]] if option else []
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
    dim, arms = within(sample.dim, 2**31, "dim"), within(sample.arms, 2**31, "arms")
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
    progress: Callable[[int, int], Any] | bool | None = None,
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
    progress  called now and then with the number of runs done and of all. None: a bar, in a terminal and in a notebook;
              True: a bar anywhere; False: nothing
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
    rounds, reps = within(rounds, 10**12 + 1, "rounds"), within(reps, 10**6 + 1, "reps")
    seed, threads = within(seed, 2**63, "seed"), within(threads or _cores(), 1025, "threads")
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
        bar = Bar() if progress is True or (progress is None and watched()) else None
        watch = ffi.new_handle((session, bar or progress or None))
        code = lib.gbose_study_play(s, threads, lib.py_progress, watch, err)
        if bar is not None:
            bar.end()
        if session.error is not None:
            raise session.error
        check(code, err)
        return _read(s)
    finally:
        ffi.release(s)  # now, and not when the last traceback is forgotten: it holds the directory


def _cores() -> int:
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 1024)


# ---- results ----


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
