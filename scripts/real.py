#!/usr/bin/env python3
"""gbose-auto on real data, beside other learners that have their best width in hindsight.

Usage: scripts/real.py DATA [--sets NAME ...] [--shifts NAME ...] [--times NAME ...] [--scaling NAME ...]
                       [--learners NAME ...] [--widths W ...] [--rounds T] [--reps R] [--first F] [--jobs J] [--seconds S]
                       [--results FILE] [--again NAME] [--table]

DATA is a directory with adult.csv.gz, nursery.csv.gz (the class last) and bicycles-hour.csv.gz (columns cnt, hr, weekday and
temp). The sets digits, wine and cancer come with scikit-learn. It needs the Python package gbose, numpy and
scikit-learn (Debian: apt-get install python3-numpy python3-sklearn); no test needs it.

A classification set is played as a bandit: an arm for each class, the features and a constant in the arm's block,
reward 1 for the right class and 0 otherwise. Which class is the first arm differs from repetition to repetition, since some
learners play the first arm as long as they know nothing. Scaling: 'standard', numbers less their mean, by their standard deviation, or 'raw'.

The shift is added to the rewards of all arms: 'none'; 'bicycles', three standard deviations of the hourly rentals, an hour a
round; or 'calendar', a profile of the weekdays, a trend and jumps. Rewards come at 'once', 'late' by up to 500 rounds,
each with its own delay, or in a 'batch' of 1,000. Where they do not come at once, a set of fewer than 3,000 rows is played
several times over.

The mean reward without the shift goes to FILE, a line for each run, and what is there already is not played again: stop it when
you like, and start it again. --seconds stops it after a while; --again NAME plays a learner anew (which has changed, say).
--table only prints the tables, in Markdown, of what there is.
"""
import argparse
import csv
import gzip
import functools
import json
import multiprocessing
import os
import pathlib
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # runs are played side by side: threads would be in each other's way

import numpy as np

import gbose

WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0)
OURS = ("gbose", "bose", "action-ts", "semi-ts", "lin-ts", "lin-ucb")
SETS = ("adult", "nursery", "digits", "wine", "cancer")
SHIFTS = ("none", "bicycles", "calendar")
MODELS = 10  # of the bootstrap
LATE, BATCH, LEAST_ROUNDS = 500, 1000, 3000
PROGRESS = 10  # seconds between two lines on how far it is
SMALL, SMALL_REPS = 1000, 10  # a set of fewer rows has so many repetitions


class Linear:
    """Ridge regressions on the user's features, `models` for each arm: what the three learners below share."""

    def __init__(self, arms, dim, width, seed, models=1):
        self.rng, self.width, self.arms = np.random.default_rng(seed), width, arms
        self.inverse = np.tile(np.eye(dim), (arms, models, 1, 1))
        self.coef = np.zeros((arms, models, dim))

    def learn(self, a, x, reward, weight=1.0):
        """A step of recursive least squares in the models of arm a, with a weight for each."""
        weight = np.broadcast_to(weight, self.coef.shape[1])
        gain = self.inverse[a] @ x
        step = weight / (1 + weight * (gain @ x))
        self.coef[a] += (step * (reward - self.coef[a] @ x))[:, None] * gain
        self.inverse[a] -= (step[:, None] * gain)[:, :, None] * gain[:, None, :]

    def best(self, score):
        """The best arm, by lot where several are equal."""
        return int(self.rng.choice(np.flatnonzero(score == score.max())))


class RidgeThompson(Linear):
    """Thompson sampling with a normal posterior for each arm, as MABWiser has it."""

    def decide(self, x):
        spread = np.sqrt(np.maximum((self.inverse[:, 0] @ x) @ x, 0))
        return self.best(self.coef[:, 0] @ x + self.width * spread * self.rng.standard_normal(self.arms))


class SquareCB(Linear):
    """Inverse gap weighting (Foster and Rakhlin, 2020) with a linear oracle: gamma is sqrt(t) / width."""

    rounds = 0

    def decide(self, x):
        score = self.coef[:, 0] @ x
        best = self.best(score)
        self.rounds += 1
        p = 1 / (self.arms + np.sqrt(self.rounds) / self.width * (score[best] - score))
        p[best] = 0
        p[best] = 1 - p.sum()
        return int(min(np.searchsorted(np.cumsum(p), self.rng.random()), self.arms - 1))


class Bootstrap(Linear):
    """Regressions each of which learns a round twice, once or not at all (by Poisson's law); one of them decides. It has no
    width."""

    def __init__(self, arms, dim, width, seed):
        super().__init__(arms, dim, width, seed, MODELS)

    def decide(self, x):
        return self.best(self.coef[:, self.rng.integers(MODELS)] @ x)

    def learn(self, a, x, reward):
        super().learn(a, x, reward, self.rng.poisson(1.0, MODELS).astype(float))


class Uniform(Linear):
    def decide(self, x):
        return int(self.rng.integers(self.arms))

    def learn(self, a, x, reward):
        pass


OTHERS = {"per-arm TS": RidgeThompson, "SquareCB": SquareCB, "bootstrap TS": Bootstrap, "uniform": Uniform}
SHOWN = ("lin-ts", "per-arm TS", "SquareCB", "bootstrap TS", "uniform")  # in the table
TUNED = OURS + ("per-arm TS", "SquareCB")
AUTO, INFORMED = "gbose-auto", "gbose-auto, round"  # the second has features of the round


class Ours:
    """A learner of this library: contexts in blocks."""

    def __init__(self, spec, arms, dim, seed):
        self.bandit = gbose.Bandit(spec, dim=arms * dim, seed=seed)
        self.contexts = np.zeros((arms, arms * dim))
        self.blocks = self.contexts.reshape(arms, arms, dim)
        self.arms = np.arange(arms)

    def decide(self, x, round=None):
        self.blocks[self.arms, self.arms] = x
        self.decision = self.bandit.decide(self.contexts, round)
        return self.decision.arm

    def learn(self, ticket, _, reward):
        self.bandit.learn(ticket, reward)


# ---- data ----


def rows(path):
    with gzip.open(path, "rt", newline="") as file:
        return [row for row in csv.reader(file) if row]


def encode(table):
    """Numbers as they are, words as a 0 or 1 for each; the class is last."""
    columns = []
    for values in zip(*[[v.strip() for v in row[:-1]] for row in table]):
        try:
            columns.append(np.array(values, dtype=float)[:, None])
        except ValueError:
            words = sorted(set(values))
            columns.append(np.array([[v == w for w in words] for v in values], dtype=float))
    classes = sorted({row[-1].strip() for row in table})
    return np.hstack(columns), np.array([classes.index(row[-1].strip()) for row in table])


@functools.cache
def load(name, data, scaling):
    if name in ("digits", "wine", "cancer"):
        try:
            from sklearn import datasets
        except ImportError:
            sys.exit(f"real: the set '{name}' comes with scikit-learn, which is not there (Debian: python3-sklearn)")
        bunch = {"digits": datasets.load_digits, "wine": datasets.load_wine, "cancer": datasets.load_breast_cancer}[name]()
        x, y = bunch.data.copy(), bunch.target
    else:
        table = rows(data / f"{name}.csv.gz")
        x, y = encode([row for row in table if len(row) == len(table[0])])
    if scaling == "standard":
        numeric = np.array([len(np.unique(column)) > 2 for column in x.T])
        x[:, numeric] = (x[:, numeric] - x[:, numeric].mean(0)) / x[:, numeric].std(0)
    return np.hstack([np.ones((len(x), 1)), x]), y


@functools.cache
def bicycles(data):
    """Of each hour the rentals, standardised, and what was known beforehand: hour and weekday, a 0 or 1 for each, and
    the temperature. Hours without a number are left out."""
    head, *table = rows(data / "bicycles-hour.csv.gz")
    wanted = [[row[head.index(name)] for name in ("cnt", "hr", "weekday", "temp")] for row in table]
    count, hour, weekday, temp = np.array([row for row in wanted if "NA" not in row], dtype=float).T
    features = np.hstack([hour[:, None] == np.arange(24), weekday[:, None] == np.arange(7), temp[:, None]])
    return (count - count.mean()) / count.std(), features.astype(float)


def shift_of(kind, data, rounds, rng):
    """The shift of each round, and the features of the round or None."""
    if kind == "none":
        return np.zeros(rounds), None
    if kind == "bicycles":
        count, features = bicycles(data)
        hours = (rng.integers(len(count)) + np.arange(rounds)) % len(count)
        return 3 * count[hours], features[hours]
    level = np.cumsum(np.where(rng.random(rounds) < 0.005, rng.normal(0, 1, rounds), 0))
    weekday = rng.uniform(-2, 2, 7)[np.arange(rounds) // 24 % 7]
    return weekday + 2 * np.arange(rounds) / rounds + level, None


# ---- a run ----


def make(learner, width, arms, dim, seed, n_features):
    if learner in OTHERS:
        return OTHERS[learner](arms, dim, width, seed)
    if learner == INFORMED:
        return Ours(f"gbose-auto:round={n_features}", arms, dim, seed)
    return Ours(learner if width is None else f"{learner}:gamma={width}", arms, dim, seed)


def order_of(rng, size, rounds, when):
    """The rows in a random order; several times over where rewards do not come at once and there are few rows."""
    least = 1 if when == "once" else LEAST_ROUNDS
    order = np.concatenate([rng.permutation(size) for _ in range(-(-least // size))])
    return order[: min(rounds, max(size, least))]


def play(job, data):
    """The mean reward of a run, without the shift."""
    x, y = load(job["set"], data, job["scaling"])
    arms = int(y.max()) + 1
    y = (y + job["rep"]) % arms
    rng = np.random.default_rng(1000 + job["rep"])
    order = order_of(rng, len(x), job["rounds"], job["when"])
    shift, features = shift_of(job["shift"], data, len(order), rng)
    delay = rng.integers(LATE + 1, size=len(order)) if job["when"] == "late" else np.zeros(len(order), int)
    learner = make(job["learner"], job["width"], arms, x.shape[1], job["rep"] + 1,
                   0 if features is None else features.shape[1])
    waiting, won = {}, 0
    for t, i in enumerate(order):
        for lesson in waiting.pop(t, ()):
            learner.learn(*lesson)
        arm = learner.decide(x[i], features[t]) if job["learner"] == INFORMED else learner.decide(x[i])
        reward = float(arm == y[i])
        won += reward
        due = (t // BATCH + 1) * BATCH if job["when"] == "batch" else t + 1 + delay[t]
        known = learner.decision.ticket if isinstance(learner, Ours) else arm
        waiting.setdefault(due, []).append((known, x[i], reward + shift[t]))
    return won / len(order)


def run(task):
    job, data = task
    return job, play(job, data)


# ---- many runs ----


def jobs_of(args):
    """All runs, those of gbose-auto first. Rewards that are not there at once are played with standardised numbers only."""
    found = []
    for name in args.sets:
        size = len(load(name, args.data, "standard")[1])
        for scaling, when, shift, learner in [
            (s, w, k, l) for s in args.scaling for w in args.times for k in args.shifts for l in args.learners
        ]:
            if (scaling == "raw" and when != "once") or (learner == INFORMED and shift != "bicycles"):
                continue
            reps = max(args.reps, SMALL_REPS) if when == "once" and size < SMALL else args.reps
            for width in args.widths if learner in TUNED else (None,):
                found += [
                    {"set": name, "scaling": scaling, "when": when, "shift": shift, "rounds": args.rounds,
                     "learner": learner, "width": width, "rep": rep}
                    for rep in range(args.first, args.first + reps)
                ]
    first = {name: i for i, name in enumerate([*args.times, *args.scaling])}
    return sorted(found, key=lambda job: (not job["learner"].startswith(AUTO), first[job["scaling"]], first[job["when"]]))


def key(job):
    return json.dumps(job, sort_keys=True)


def read(path):
    """What is known of each run: the last line counts."""
    known = {}
    if path.exists():
        for line in path.read_text().splitlines():
            job = json.loads(line)
            reward = job.pop("reward")
            known[key(job)] = reward
    return known


def play_all(args, todo, out):
    began = said = time.monotonic()
    done = 0
    with multiprocessing.Pool(args.jobs) as pool:
        for job, reward in pool.imap_unordered(run, [(job, args.data) for job in todo]):
            print(json.dumps({**job, "reward": reward}), file=out, flush=True)
            done += 1
            now = time.monotonic()
            if now - said > PROGRESS or done == len(todo):
                said = now
                left = (now - began) / done * (len(todo) - done)
                print(f"real: {done} of {len(todo)} runs, about {left / 60:.0f} minutes left", file=sys.stderr)
            if args.seconds and now - began > args.seconds:
                pool.terminate()
                break


# ---- tables ----


def cells_of(known, args):
    """Of each cell and learner the rewards by repetition, with the width that is best on average over the repetitions that
    all learners have played."""
    runs = {}
    for text, reward in known.items():
        job = json.loads(text)
        cell = tuple(job[k] for k in ("scaling", "when", "shift", "set"))
        if (job["rounds"] == args.rounds and job["rep"] >= args.first and job["learner"] in args.learners
                and (job["width"] is None or job["width"] in args.widths)):
            runs.setdefault(cell, {}).setdefault(job["learner"], {}).setdefault(job["width"], {})[job["rep"]] = reward
    best = {}
    for cell, learners in runs.items():
        reps = set.intersection(*[set(runs) for widths in learners.values() for runs in widths.values()])
        best[cell] = {}
        for learner, widths in learners.items() if reps else ():
            rewards = [{rep: runs[rep] for rep in sorted(reps)} for runs in widths.values()]
            best[cell][learner] = max(rewards, key=lambda r: sum(r.values()))
    return best


def percent(reps):
    return f"{100 * np.mean(list(reps.values())):.1f}" if reps else ""


def row_of(cell, learners):
    """A line of the table: gbose-auto, the best of the others, the difference with its standard error, and some others."""
    others = {name: reps for name, reps in learners.items() if not name.startswith(AUTO)}
    if AUTO not in learners or not others:
        return None
    best = max(others, key=lambda name: np.mean(list(others[name].values())))
    both = [100 * (learners[AUTO][r] - others[best][r]) for r in learners[AUTO] if r in others[best]]
    error = np.std(both, ddof=1) / np.sqrt(len(both)) if len(both) > 1 else float("nan")
    shown = [learners.get(name, {}) for name in SHOWN]
    informed = [percent(learners.get(INFORMED, {}))] if cell[2] == "bicycles" else []
    return [cell[3], percent(learners[AUTO]), *informed, f"{percent(others[best])} ({best})",
            f"{np.mean(both):+.1f} ± {error:.1f}", *map(percent, shown)]


def print_tables(known, args):
    cells = cells_of(known, args)
    for scaling, when, shift in [(s, w, k) for s in args.scaling for w in args.times for k in args.shifts]:
        lines = [row_of((scaling, when, shift, s), cells.get((scaling, when, shift, s), {})) for s in args.sets]
        lines = [line for line in lines if line]
        if not lines:
            continue
        informed = ["with features of the round"] if shift == "bicycles" else []
        head = ["set", "gbose-auto", *informed, "best of the others", "difference", *SHOWN]
        print(f"\nshift {shift}, rewards {when}, {scaling}\n\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
        for line in lines:
            print("| " + " | ".join(line) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS, metavar="NAME")
    parser.add_argument("--shifts", nargs="+", default=SHIFTS, choices=SHIFTS, metavar="NAME")
    parser.add_argument("--times", nargs="+", default=["once", "late", "batch"], choices=["once", "late", "batch"], metavar="NAME")
    parser.add_argument("--scaling", nargs="+", default=["standard", "raw"], choices=["standard", "raw"], metavar="NAME")
    everybody = [AUTO, INFORMED, *OURS, *OTHERS]
    parser.add_argument("--learners", nargs="+", default=everybody, choices=everybody, metavar="NAME")
    parser.add_argument("--widths", nargs="+", type=float, default=WIDTHS)
    parser.add_argument("--rounds", type=int, default=5000)
    parser.add_argument("--reps", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="the first repetition, to choose on some and report on others")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("real.jsonl"))
    parser.add_argument("--again", default="", help="the learner whose runs are played again, beginning of its name")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if not (args.data / "bicycles-hour.csv.gz").exists():
        sys.exit(f"real: '{args.data}' has no bicycles-hour.csv.gz; the first argument is the directory with the data")
    known = read(args.results)
    if not args.table:
        jobs = jobs_of(args)
        todo = [j for j in jobs if key(j) not in known or (args.again and j["learner"].startswith(args.again))]
        with args.results.open("a") as out:
            play_all(args, todo, out)
        known = read(args.results)
    print_tables(known, args)


if __name__ == "__main__":
    main()
