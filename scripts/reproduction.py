#!/usr/bin/env python3
"""How far Table 1 of the paper reproduces: printed values beside ours and the spread that batches of 10 have.

Usage: scripts/reproduction.py results/paper-40/runs.csv

Reads the runs of `gbose paper --reps 40 --out results/paper-40` and prints a Markdown table. The paper's number is
the least median of 10 repetitions over 11 parameter values. The same is computed here for 4,000 batches of 10
repetitions drawn with replacement from ours (the same repetitions for every value): their median, quartiles and
central 95%. The printed value is inside when it lies in the central 95%.
"""
import csv
import random
import re
import statistics
import sys

PRINTED = {  # (arms, dim): learner: (i), (ii), (iii)
    (2, 10): {"gbose": (21.8, 642.0, 25.4), "action-ts": (19.3, 927.1, 27.0), "semi-ts": (18.2, 723.4, 33.1),
              "lin-ts": (2.1, 1569.6, 114.1)},
    (10, 2): {"gbose": (42.5, 1217.5, 74.5), "action-ts": (296.7, 2495.4, 399.1), "semi-ts": (76.9, 1856.4, 106.7),
              "lin-ts": (23.0, 3508.8, 659.9)},
    (10, 10): {"gbose": (137.6, 2188.9, 227.4), "action-ts": (572.0, 3439.6, 928.7), "semi-ts": (257.3, 2638.0, 349.6),
               "lin-ts": (68.1, 4020.8, 589.8)},
}
SHIFTS = ("zero", "log-sine", "cos-best")
BATCHES = 4000


def cell(world):
    """(arms, dim, shift) of a canonical spec, whose defaults are 10, 2 and zero."""
    option = dict(re.findall(r"(\w+)=([\w.-]+)", world))
    return int(option.get("arms", 10)), int(option.get("dim", 2)), option.get("shift", "zero")


def read(path):
    """Regret by cell, learner, value and repetition, of the tuning repetitions."""
    runs = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["phase"] == "tune":
                values = runs.setdefault((cell(row["world"]), row["learner"]), {})
                values.setdefault(row["value"], {})[int(row["repetition"])] = float(row["regret"])
    return runs


def batch_best(values, reps, rng):
    """The least median over the values, of one batch of 10 repetitions."""
    batch = [rng.choice(reps) for _ in range(10)]
    return min(statistics.median(regret[r] for r in batch) for regret in values.values())


def number(x):
    return f"{x:.1f}" if x < 1000 else f"{x:.0f}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    runs = read(sys.argv[1])
    print("| N, d | algorithm | shift | printed | batches of 10: median [quartiles] | central 95% | inside |")
    print("|---|---|---|---|---|---|---|")
    for (arms, dim), table in PRINTED.items():
        rows = dict(table)
        rows["gbose lone=half"] = table["gbose"]
        for learner, printed in rows.items():
            for shift, value in zip(SHIFTS, printed):
                values = runs[(arms, dim, shift), learner]
                reps = sorted(next(iter(values.values())))
                rng = random.Random(f"{arms} {dim} {shift} {learner}")
                best = sorted(batch_best(values, reps, rng) for _ in range(BATCHES))
                low, q1, median, q3, high = (best[int(p * (BATCHES - 1))] for p in (0.025, 0.25, 0.5, 0.75, 0.975))
                inside = "yes" if low <= value <= high else "above" if value > high else "below"
                print(f"| {arms}, {dim} | {learner} | {shift} | {number(value)} | "
                      f"{number(median)} [{number(q1)}, {number(q3)}] | {number(low)} to {number(high)} | {inside} |")


if __name__ == "__main__":
    main()
