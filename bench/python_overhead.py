"""What a round costs from Python: decide and learn at 10 arms and 18 features, beside the same in C, through ctypes, and
in expert numpy (numpy_rounds.py). Everyone plays the same rounds from the same state, in turn; microseconds of CPU per
round, medians.

    cmake --build --preset release --target gbose_bench gbose && PYTHON bench/python_overhead.py

where PYTHON has the package gbose (docs/python.md). Writes bench/results/python.csv.
"""
import argparse
import csv
import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import gbose

TOP = Path(__file__).resolve().parent.parent
ARMS, DIM, TRAINING = 10, 18, 2000


class Program:
    """A contender in a process of its own, which answers requests one a line."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def read(path):
    """Contexts and rewards of a workload, as lists: a program has them one by one."""
    n_rounds, n, d = np.fromfile(path, dtype=np.int64, count=3)
    rest = np.fromfile(path, dtype=np.float64, offset=24)[d * d + d :]
    contexts = rest[: n_rounds * n * d].reshape(n_rounds, n, d)
    rewards = rest[n_rounds * n * d :].reshape(n_rounds, n)
    return [x.copy() for x in contexts], rewards.tolist()


def timed(play, seconds):
    """Microseconds of CPU per round; play() plays as many rounds as it returns."""
    done, begin = 0, time.process_time()
    while True:
        done += play()
        used = time.process_time() - begin
        if used >= seconds:
            return 1e6 * used / done


def package(path, seconds):
    bandit = gbose.load(Path(str(path) + ".state").read_bytes())
    contexts, rewards = read(path)

    def play():
        for x, r in zip(contexts, rewards):
            decision = bandit.decide(x)
            bandit.learn(decision.ticket, r[decision.arm])
        return len(contexts)

    return timed(play, seconds)


class Decision(ctypes.Structure):
    _fields_ = [
        ("arm", ctypes.c_size_t),
        ("probability", ctypes.c_double),
        ("n_arms", ctypes.c_size_t),
        ("pmf", ctypes.c_void_p),
        ("draws", ctypes.c_size_t),
        ("ticket", ctypes.c_void_p),
        ("ticket_size", ctypes.c_size_t),
    ]


def through_ctypes(path, seconds):
    """The least that a binding through ctypes would do: no checks, no pmf."""
    lib = ctypes.CDLL(str(TOP / "build" / "release" / "libgbose.so"))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    lib.gbose_load.argtypes = [pointer, ctypes.c_char_p, size, pointer]
    lib.gbose_decide.argtypes = [pointer, pointer, pointer, size]
    lib.gbose_learn.argtypes = [pointer, ctypes.c_char_p, size, ctypes.c_double]
    state, out, d = Path(str(path) + ".state").read_bytes(), pointer(), Decision()
    assert lib.gbose_load(ctypes.byref(out), state, len(state), None) == 0
    g, where = out.value, ctypes.byref(d)
    contexts, rewards = read(path)

    def play():
        for x, r in zip(contexts, rewards):
            assert lib.gbose_decide(g, where, x.ctypes.data, ARMS) == 0
            ticket = ctypes.string_at(d.ticket, d.ticket_size)
            assert lib.gbose_learn(g, ticket, len(ticket), r[d.arm]) == 0
        return len(contexts)

    return timed(play, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bench", default=TOP / "build" / "release" / "bench" / "gbose_bench", help="the C contender")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each measurement")
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--out", default=TOP / "bench" / "results" / "python.csv", help="- for none")
    options = parser.parse_args()
    c, expert = Program(options.bench), Program(sys.executable, TOP / "bench" / "numpy_rounds.py", "expert")
    with tempfile.TemporaryDirectory() as work:
        path = Path(work) / "rounds"
        c.ask("prepare", "gbose", ARMS, DIM, TRAINING, path)
        contenders = {
            "gbose, in C": lambda: c.ask("gbose", path, options.seconds),
            "gbose, in Python": lambda: package(path, options.seconds),
            "gbose, through ctypes": lambda: through_ctypes(path, options.seconds),
            "expert numpy": lambda: expert.ask("gbose", path, options.seconds),
        }
        times = {name: [] for name in contenders}
        for _ in range(options.repetitions):
            for name, measure in contenders.items():
                times[name].append(measure())
    rows = []
    for name, t in times.items():
        low, median, high = np.quantile(t, [0.25, 0.5, 0.75])
        over = [x - y for x, y in zip(t, times["gbose, in C"])]
        rows.append([name, f"{median:.3f}", f"{low:.3f}", f"{high:.3f}", f"{statistics.median(over):.3f}"])
    heading = ["contender", "microseconds", "lower quartile", "upper quartile", "above C"]
    for row in [heading, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, (22, 14, 14, 14, 8))))
    print(f"goal: gbose in Python at most 2.0 above C; it is {rows[1][4]}")
    if str(options.out) != "-":
        with open(options.out, "w", newline="") as file:
            csv.writer(file).writerows([heading, *rows])


main()
