#!/usr/bin/env python3
"""gbose-auto on real data, beside other learners that have their best width in hindsight.

Usage: scripts/real.py DATA [--sets NAME ...] [--shift plain|bicycles|calendar] [--late ROUNDS | --batch ROUNDS]
                            [--rounds T] [--reps R] [--raw]

DATA is a directory with adult.csv.gz, nursery.csv.gz (the class last) and bicycles-hour.csv.gz (a column cnt). The sets
digits, wine and cancer come with scikit-learn. It needs the Python package gbose, numpy and scikit-learn
(Debian: python3-numpy, python3-sklearn); no test needs it.

A classification set is played as a bandit: an arm for each class, the features in the arm's block, reward 1 for the right
class and 0 otherwise. Numbers are standardised unless --raw. The shift is added to the rewards of all arms: none, three standard
deviations of the hourly rentals of bicycles, an hour a round, or a calendar of promotions (a weekday's profile, a trend and jumps). Printed is
the mean reward without the shift, averaged over repetitions.
"""
import argparse
import csv
import gzip
import pathlib

import gbose
import numpy as np

WIDTHS = (0.01, 0.03, 0.1, 0.3, 1)


class Linear:
    """A ridge regression for each arm on the user's features: what the three learners below share."""

    def __init__(self, arms, dim, width, seed):
        self.rng, self.width, self.arms = np.random.default_rng(seed), width, arms
        self.inverse = np.stack([np.eye(dim)] * arms)
        self.moment = np.zeros((arms, dim))

    def coef(self):
        return np.einsum("aij,aj->ai", self.inverse, self.moment)

    def add(self, a, x, reward, weight=1.0):
        gain = self.inverse[a] @ x
        self.inverse[a] -= weight * np.outer(gain, gain) / (1 + weight * x @ gain)
        self.moment[a] += weight * reward * x

    def learn(self, a, x, reward):
        self.add(a, x, reward)


class RidgeThompson(Linear):
    """Thompson sampling with a normal posterior for each arm, as MABWiser has it."""

    def decide(self, x):
        spread = np.sqrt(np.maximum(np.einsum("i,aij,j->a", x, self.inverse, x), 0))
        return int(np.argmax(self.coef() @ x + self.width * spread * self.rng.standard_normal(self.arms)))


class SquareCB(Linear):
    """Inverse gap weighting (Foster and Rakhlin, 2020) with a linear oracle; the width is 1 / gamma's factor."""

    def __init__(self, arms, dim, width, seed):
        super().__init__(arms, dim, width, seed)
        self.rounds = 0

    def decide(self, x):
        score = self.coef() @ x
        best = int(np.argmax(score))
        self.rounds += 1
        p = 1 / (self.arms + np.sqrt(self.rounds) / self.width * (score[best] - score))
        p[best] = 0
        p[best] = max(0.0, 1 - p.sum())
        return int(self.rng.choice(self.arms, p=p / p.sum()))


class Bootstrap:
    """Ten regressions, each of which learns a round twice, once or not at all; one of them decides."""

    def __init__(self, arms, dim, width, seed):
        self.rng = np.random.default_rng(seed)
        self.models = [Linear(arms, dim, width, seed) for _ in range(10)]

    def decide(self, x):
        return int(np.argmax(self.models[self.rng.integers(10)].coef() @ x))

    def learn(self, a, x, reward):
        for model, times in zip(self.models, self.rng.poisson(1.0, 10)):
            if times:
                model.add(a, x, reward, float(times))


class Ours:
    """A learner of this library: contexts in blocks."""

    def __init__(self, spec, arms, dim, seed):
        self.bandit, self.arms, self.dim = gbose.Bandit(spec, dim=arms * dim, seed=seed), arms, dim

    def decide(self, x):
        self.decision = self.bandit.decide(np.kron(np.eye(self.arms), x))
        return self.decision.arm

    def note(self):
        return self.decision.ticket

    def learn(self, ticket, _, reward):
        self.bandit.learn(ticket, reward)


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


def load(name, data, raw):
    if name in ("digits", "wine", "cancer"):
        from sklearn import datasets

        bunch = {"digits": datasets.load_digits, "wine": datasets.load_wine,
                 "cancer": datasets.load_breast_cancer}[name]()
        x, y = bunch.data, bunch.target
    else:
        table = rows(data / f"{name}.csv.gz")
        x, y = encode([row for row in table if len(row) == len(table[0])])
    if not raw:
        numeric = np.array([len(np.unique(column)) > 2 for column in x.T])
        x[:, numeric] = (x[:, numeric] - x[:, numeric].mean(0)) / x[:, numeric].std(0)
    return np.hstack([np.ones((len(x), 1)), x]), y


def shifts(kind, data, rounds, rng):
    if kind == "plain":
        return np.zeros(rounds)
    if kind == "bicycles":
        table = rows(data / "bicycles-hour.csv.gz")
        count = np.array([row[table[0].index("cnt")] for row in table[1:]], dtype=float)
        count = (count - count.mean()) / count.std()
        return 3 * count[(rng.integers(len(count)) + np.arange(rounds)) % len(count)]
    level = np.cumsum(np.where(rng.random(rounds) < 0.005, rng.normal(0, 1, rounds), 0))
    weekday = rng.uniform(-2, 2, 7)[np.arange(rounds) // 24 % 7]
    return weekday + 2 * np.arange(rounds) / rounds + level


def play(make, x, y, args, rep):
    rng = np.random.default_rng(1000 + rep)
    order = rng.permutation(len(x))[: args.rounds or None]
    shift = shifts(args.shift, args.data, len(order), rng)
    learner, pending, won = make(rep + 1), [], 0
    for t, i in enumerate(order):
        for due in [p for p in pending if p[0] <= t]:
            learner.learn(*due[1:])
        pending = [p for p in pending if p[0] > t]
        arm = learner.decide(x[i])
        reward = float(arm == y[i])
        won += reward
        wait = rng.integers(args.late + 1) if args.late else 0
        due = (t // args.batch + 1) * args.batch if args.batch else t + 1 + wait
        pending.append((due, learner.note() if isinstance(learner, Ours) else arm, x[i], reward + shift[t]))
    return won / len(order)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--sets", nargs="+", default=["adult", "nursery", "digits", "wine", "cancer"])
    parser.add_argument("--shift", choices=["plain", "bicycles", "calendar"], default="plain")
    parser.add_argument("--late", type=int, default=0)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5000)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--raw", action="store_true")
    args = parser.parse_args()
    names = ["gbose", "bose", "action-ts", "semi-ts", "lin-ts", "lin-ucb"]
    others = {"per-arm Thompson": RidgeThompson, "SquareCB": SquareCB, "bootstrap": Bootstrap}
    print("| set | gbose-auto | " + " | ".join(names + list(others)) + " |")
    print("|---" * (len(names) + len(others) + 2) + "|")
    for name in args.sets:
        x, y = load(name, args.data, args.raw)
        arms, dim = int(y.max()) + 1, x.shape[1]

        def mean(make):
            return np.mean([play(make, x, y, args, rep) for rep in range(args.reps)])

        cells = [mean(lambda seed: Ours("gbose-auto", arms, dim, seed))]
        for spec in names:
            cells.append(max(mean(lambda seed, w=w: Ours(f"{spec}:gamma={w}", arms, dim, seed)) for w in WIDTHS))
        for kind in others.values():
            cells.append(max(mean(lambda seed, w=w: kind(arms, dim, w, seed)) for w in WIDTHS))
        print(f"| {name} | " + " | ".join(f"{100 * c:.1f}" for c in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
