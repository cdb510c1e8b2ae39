"""The benchmark: gbose beside its peers, in one run, their repetitions in turn so that noise hits all alike.

Usage: ./run bench [--quick] [--docs] [SECTION...]

Sections: rounds auto ball growth kernels isa learners threads features evaluate; all of them if none is named.
The service has benchmarks of its own: ./run bench serve, and ./run bench fleet for three servers on PostgreSQL.

  --quick   few and short repetitions, for a look. Results go to build/bench/quick/, and nothing else changes
  --docs    renew the tables and figures of docs/performance.md from bench/results/; alone it measures nothing
            before

Times are CPU microseconds of one process on one core, medians; spread is the distance of the quartiles over the
median. Tables go to the terminal and, as CSV and figures, to bench/results/.
"""
import csv
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "build", "release", "bench")
WORK = os.path.join(HERE, "..", "build", "bench")
RESULTS = os.path.join(HERE, "results")

GAMMA = 1  # as in workload.h
SHAPES = [("gbose", 2, 10), ("gbose", 10, 18), ("gbose", 10, 90), ("gbose", 100, 50), ("gbose", 1000, 100),
          ("semi-ts", 10, 18), ("semi-ts", 10, 90)]
TRAINING = 2000  # rounds


def cpu_flags():
    with open("/proc/cpuinfo") as f:
        text = f.read()
    name = next((line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), [])
    return name, set(flags)


def forced_kernels():
    """The environment that names the right kernels to OpenBLAS and BLIS; BLIS 0.9 takes a number."""
    name, flags = cpu_flags()
    if "avx512f" in flags:
        return {"OPENBLAS_CORETYPE": "SkylakeX", "BLIS_ARCH_TYPE": "0"}
    if "AMD" in name:
        return {"OPENBLAS_CORETYPE": "Zen", "BLIS_ARCH_TYPE": "6"}
    return {"OPENBLAS_CORETYPE": "Haswell", "BLIS_ARCH_TYPE": "3"}


def python_with_numpy():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    sys.exit("bench: numpy was not found; scripts/setup.sh bench installs it")


class Contender:
    """A process that answers one line with one number."""

    def __init__(self, name, command, env=None):
        self.name = name
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "BLIS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **one_thread, **(env or {})})

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"bench: {self.name} did not answer '{request}'")
        return float(answer)


def gbose(name="gbose", isa=None):
    return Contender(name, [os.path.join(BUILD, "gbose_bench")], {"GBOSE_ISA": isa} if isa else None)


def blas(name, library, env=None):
    return Contender(name, [os.path.join(BUILD, "gbose_bench_blas"), library], env)


def median(values):
    return statistics.median(values)


def spread(values):
    if len(values) < 4:
        return (max(values) - min(values)) / median(values)
    q = statistics.quantiles(values, n=4)
    return (q[2] - q[0]) / median(values)


def in_turn(contenders, request, repetitions, limit=None):
    """{name: times}: every contender once, then every contender again."""
    times = {c.name: [] for c in contenders}
    for repetition in range(repetitions):
        for c in contenders:
            if limit and c.name in limit and repetition >= limit[c.name]:
                continue
            times[c.name].append(c.ask(request))
    return times


def write_csv(name, header, rows):
    with open(os.path.join(RESULTS, name), "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(header)
        w.writerows(rows)


def number(x):
    return f"{x:.3g}" if x < 1000 else f"{x:,.0f}"


def plot(script):
    subprocess.run(["gnuplot"], input=script, text=True, check=True, cwd=RESULTS)


def flops(learner, n, d, fresh):
    """Of the textbook round in its cheapest exact form: scores, images through a triangle, the pairs that must be
    compared, one rank-one step on the triangle (semi-ts: n + 1 of them)."""
    pairs = n * (n - 1) // 2 if fresh else n
    if learner == "semi-ts":
        return 2 * n * d + n * d * d + 1000 * n * n // 2 + (n + 1) * 3.5 * d * d
    return 2 * n * d + n * d * d + 3 * d * pairs + 3.5 * d * d


def workload(own, learner, n, d, training):
    path = os.path.join(WORK, f"{learner}-{n}-{d}-{training}")
    options = "" if learner == "gbose-auto" else f":gamma={GAMMA}"
    survivors = own.ask(f"prepare {learner}{options} {n} {d} {training} {path}")
    return path, survivors


# ---- sections ----

def rounds(quick):
    forced = forced_kernels()
    numpy = [python_with_numpy(), os.path.join(HERE, "numpy_rounds.py")]
    own = gbose()
    contenders = [own, blas("OpenBLAS", "libopenblas.so.0"), blas("OpenBLAS forced", "libopenblas.so.0", forced),
                  blas("BLIS", "libblis.so.4"), blas("BLIS forced", "libblis.so.4", forced),
                  Contender("numpy expert", numpy + ["expert"]), Contender("numpy research", numpy + ["research"])]
    peak = median([own.ask("peak - 0.1") for _ in range(5)])
    print(f"peak {peak:.1f} Gflop/s on one core; times in microseconds of CPU per round (decide and learn),")
    print("in brackets how many times gbose's, then the spread\n")
    rows = []
    for learner, n, d in SHAPES:
        for training in (0, TRAINING):
            path, survivors = workload(own, learner, n, d, training)
            big = n * d >= 50000
            slow = {"numpy research": 1} if big else {"numpy research": 3}
            times = in_turn(contenders, f"{learner} {path} {0.02 if quick else 0.03}", 3 if quick else 21, slow)
            floor = 1e-3 * flops(learner, n, d, training == 0) / peak
            state = "trained" if training else "fresh"
            alive = f", {survivors:.3g} survivors" if learner == "gbose" else ""
            print(f"{learner} ({n}, {d}), {state}{alive}; flops at peak {number(floor)}")
            for c in contenders:
                m = median(times[c.name])
                ratio = m / median(times["gbose"])
                print(f"    {c.name:16} {number(m):>9}  ({number(ratio)}x)  {100 * spread(times[c.name]):.0f}%")
                rows.append([learner, n, d, state, f"{survivors:.3g}", c.name, f"{m:.4g}",
                             f"{spread(times[c.name]):.3f}", f"{ratio:.4g}", len(times[c.name])])
            rows.append([learner, n, d, state, f"{survivors:.3g}", "flops at peak", f"{floor:.4g}", "", "", ""])
    write_csv("rounds.csv", ["learner", "arms", "dim", "state", "survivors", "contender", "microseconds", "spread",
                             "ratio to gbose", "repetitions"], rows)
    write_csv("machine.csv", ["processor", "isa", "peak Gflop/s", "bandwidth Gbyte/s"],
              [[cpu_flags()[0], "avx512" if "avx512f" in cpu_flags()[1] else "avx2", f"{peak:.4g}",
                f"{own.ask('bandwidth - 0.3'):.4g}"]])


def auto(quick):
    """gbose-auto beside gbose. A trained gbose often has one survivor, and then learns nothing; gbose-auto learns in
    every round."""
    own, rows = gbose(), []
    for n, d in ((10, 18), (10, 90)):
        for training in (0, TRAINING):
            path = {learner: workload(own, learner, n, d, training)[0] for learner in ("gbose", "gbose-auto")}
            times = {learner: [] for learner in path}
            for _ in range(5 if quick else 21):
                for learner in path:
                    times[learner].append(own.ask(f"{learner} {path[learner]} {0.02 if quick else 0.05}"))
            state = "trained" if training else "fresh"
            plain = median(times["gbose"])
            print(f"    ({n}, {d}), {state:8}" + "  ".join(
                f"{learner} {number(median(t))} us" for learner, t in times.items()) +
                f"  {median(times['gbose-auto']) / plain:.2f}x")
            rows += [[learner, n, d, state, f"{median(t):.4g}", f"{spread(t):.3f}", f"{median(t) / plain:.4g}"]
                     for learner, t in times.items()]
    write_csv("auto.csv", ["learner", "arms", "dim", "state", "microseconds", "spread", "ratio to gbose"], rows)


def ball(quick):
    """bose beside gbose where its enclosing ball is hardest to find: unit vectors rounded to 6 decimals, all alive."""
    own, rows = gbose(), []
    for n, d in ((5, 20), (20, 10), (100, 50), (200, 100), (400, 128), (1000, 200), (5000, 50)):
        times = {learner: [] for learner in ("gbose", "bose")}
        for _ in range(3 if quick else 9):
            for learner in times:
                times[learner].append(own.ask(f"crowded {learner} {n} {d} {0.02 if quick else 0.05}"))
        ratio = median(times["bose"]) / median(times["gbose"])
        print(f"    ({n}, {d})  " + "  ".join(f"{k} {number(median(t))} us" for k, t in times.items()) +
              f"  {ratio:.2f}x (goal: at most 20)")
        rows.append([n, d] + [f"{median(t):.4g}" for t in times.values()] + [f"{ratio:.4g}"])
    write_csv("ball.csv", ["arms", "dim", "gbose, us", "bose, us", "ratio"], rows)


def growth(quick):
    """Of a trained learner's round with the number of arms, d = 50."""
    own = gbose()
    sizes = [10, 30, 100, 300, 1000, 3000, 10000]
    rows = []
    for n in sizes:
        path, survivors = workload(own, "gbose", n, 50, 500)
        times = [own.ask(f"gbose {path} {0.02 if quick else 0.1}") for _ in range(3 if quick else 7)]
        rows.append([n, f"{median(times):.4g}", f"{spread(times):.3f}", f"{survivors:.3g}"])
        print(f"    {n:6} arms  {number(median(times)):>8} us  {survivors:.3g} survivors")
    slope = loglog_slope([r[0] for r in rows], [float(r[1]) for r in rows])
    print(f"    slope on a log-log plot: {slope:.3f} (goal: at most 1.1)")
    write_csv("growth.csv", ["arms", "microseconds", "spread", "survivors"], rows)
    data = "\n".join(f"{r[0]} {r[1]}" for r in rows)
    plot(f"""set terminal svg size 560,400 font 'sans,11' background 'white'
set output 'growth.svg'
$d << EOD
{data}
EOD
set logscale xy
set xlabel 'arms'
set ylabel 'microseconds of CPU per round'
set key top left
set grid
plot $d with linespoints pt 7 lw 2 title 'trained gbose, d = 50: slope {slope:.2f}', \\
     {float(rows[0][1]) / rows[0][0]} * x dashtype 2 lc rgb 'gray' title 'slope 1'
""")


def loglog_slope(x, y):
    import math
    lx, ly = [math.log(v) for v in x], [math.log(v) for v in y]
    mx, my = sum(lx) / len(lx), sum(ly) / len(ly)
    return sum((a - mx) * (b - my) for a, b in zip(lx, ly)) / sum((a - mx) ** 2 for a in lx)


def kernels(quick):
    """One y = A x, one rank-one step, and 100 arms at once: gbose on its triangle, the libraries on an inverse matrix
    (dsymv, dsymv and dsyr, dgemm)."""
    forced = forced_kernels()
    contenders = [gbose(), blas("OpenBLAS", "libopenblas.so.0"),
                  blas("OpenBLAS forced", "libopenblas.so.0", forced), blas("BLIS", "libblis.so.4"),
                  blas("BLIS forced", "libblis.so.4", forced)]
    rows = []
    for what in ("apply", "update", "images"):
        for d in (10, 20, 50, 90, 100, 200, 500, 1000):
            times = in_turn(contenders, f"{what} {d} {0.01 if quick else 0.03}", 3 if quick else 7)
            own = median(times["gbose"])
            print(f"    {what:6} d = {d:4}  " + "  ".join(
                f"{c.name} {number(median(times[c.name]))} ({median(times[c.name]) / own:.2f}x)" for c in contenders))
            for c in contenders:
                m = median(times[c.name])
                rows.append([what, d, c.name, f"{m:.4g}", f"{spread(times[c.name]):.3f}", f"{m / own:.4g}"])
    write_csv("kernels.csv", ["kernel", "dim", "contender", "microseconds", "spread", "ratio to gbose"], rows)


def isa(quick):
    """The same rounds with each instruction set."""
    name, flags = cpu_flags()
    contenders = [gbose(i, i) for i in ("baseline", "avx2", "avx512")
                  if i == "baseline" or {"avx2": "avx2", "avx512": "avx512f"}[i] in flags]
    own, rows = contenders[-1], []
    for learner, n, d in SHAPES:
        path, _ = workload(own, learner, n, d, 0)
        times = in_turn(contenders, f"{learner} {path} {0.02 if quick else 0.05}", 3 if quick else 7)
        print(f"    {learner} ({n}, {d}), fresh  " +
              "  ".join(f"{c.name} {number(median(times[c.name]))}" for c in contenders))
        rows += [[learner, n, d, c.name, f"{median(times[c.name]):.4g}", f"{spread(times[c.name]):.3f}"]
                 for c in contenders]
    write_csv("isa.csv", ["learner", "arms", "dim", "isa", "microseconds", "spread"], rows)


def learners(quick):
    """Learners of dimension 20 with five arms, one after the other."""
    own, rows = gbose(), []
    for count in (1, 10, 100, 1000, 10000, 100000):
        times = [own.ask(f"learners {count} {0.05 if quick else 0.3}") for _ in range(3)]
        rows.append([count, f"{median(times):.4g}", f"{spread(times):.3f}"])
        print(f"    {count:6} learners  {number(median(times)):>6} us per round")
    write_csv("learners.csv", ["learners", "microseconds", "spread"], rows)


def threads(quick):
    """gbose_decide_many: rounds a second on several threads that share a learner. Where other work takes the cores, the
    gain in wall time says little; that of CPU says what the threads cost each other."""
    own, rows = gbose(), []
    path, _ = workload(own, "gbose", 10, 50, TRAINING)
    counts = [n for n in (1, 2, 4, 8) if n <= len(os.sched_getaffinity(0))]
    rate = {(how, n): [] for how in ("wall", "cpu") for n in counts}
    for _ in range(3 if quick else 15):
        for how, n in rate:
            rate[how, n].append(own.ask(f"threads {how} {n} {path} {0.1 if quick else 0.2}"))
    for n in counts:
        wall = max(rate["wall", n]) / max(rate["wall", 1])
        cpu = n * median(rate["cpu", n]) / median(rate["cpu", 1])
        rows.append([n, f"{max(rate['wall', n]):.5g}", f"{wall:.3f}", f"{cpu:.3f}"])
        print(f"    {n} threads: {max(rate['wall', n]):,.0f} rounds a second at best, gain {wall:.2f}x; "
              f"with a core for each, by CPU, {cpu:.2f}x")
    write_csv("threads.csv", ["threads", "rounds a second, best", "gain in wall time, best", "gain by CPU, median"], rows)


def features(quick):
    """Named features to ten rows of eighteen columns, by a schema, beside the same by hand in C, and in Python. What a
    schema adds is its time less that of the arithmetic."""
    c = Contender("features", [os.path.join(BUILD, "gbose_bench_features")])
    python = Contender("features.py", [python_with_numpy(), os.path.join(HERE, "features.py")])
    asked = [("by hand, in C", c, "arithmetic"), ("schema, slots", c, "slots"), ("schema, names", c, "names"),
             ("decision of gbose-auto", c, "decide"), ("schema, names, and decision", c, "whole"),
             ("schema, in Python", python, "gbose"), ("numpy, by hand", python, "numpy"), ("pandas", python, "pandas")]
    times = {name: [] for name, _, _ in asked}
    for _ in range(5 if quick else 25):
        for name, contender, what in asked:
            times[name].append(contender.ask(f"{what} {0.02 if quick else 0.1}"))
    rows, hand = [], times["by hand, in C"]
    for name, t in times.items():
        if not median(t):
            print(f"    {name:28} the package gbose is not installed for {python_with_numpy()}")
            continue
        above = median([x - y for x, y in zip(t, hand)])
        rows.append([name, f"{median(t):.4g}", f"{spread(t):.3f}", f"{above:.4g}"])
        print(f"    {name:28} {number(median(t)):>8} us, {above:.3f} above the arithmetic")
    print(f"    goal: a schema costs at most 1.0 above the arithmetic; it is {rows[2][3]} by names, {rows[1][3]} by slots")
    write_csv("features.csv", ["contender", "microseconds", "spread", "above the arithmetic"], rows)


def evaluate(quick):
    """gbose evaluate on a million lines of 10 arms and 18 features, beside reading them, and beside numpy on arrays."""
    lines, files = (5000, 2) if quick else (50000, 20)  # the same file again and again: it would be 4 GB
    command = os.path.join(BUILD, "..", "gbose")
    path = os.path.join(WORK, f"log-{lines}.jsonl")
    if not os.path.exists(path):
        subprocess.run([command, "simulate", "--world", "gallery:shift=season,arms=10,dim=18", "--learner", "uniform",
                        "--rounds", str(lines), "--log", path], check=True)
    paths = [path] * files
    reader, python = os.path.join(BUILD, "gbose_bench_logs"), python_with_numpy()

    def cpu(arguments):
        before = os.times()
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        return 1e6 * (after.children_user + after.children_system - before.children_user - before.children_system) / (lines * files)

    def said(arguments):
        return float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)

    ask = ["--range", "-9,9", "--policy", "logged", "uniform", "arm=3"]
    contenders = [
        ("lines alone", lambda: said([reader, "lines", *paths])),
        ("lines parsed into records", lambda: said([reader, "scan", *paths])),
        ("gbose evaluate, 3 policies", lambda: cpu([command, "evaluate", *paths, *ask])),
        ("gbose effects", lambda: cpu([command, "effects", *paths])),
        ("numpy, arrays in memory: IPS, SNIPS, DR", lambda: said([python, os.path.join(HERE, "numpy_evaluate.py"), str(min(lines * files, 200000))])),
        ("jansson, lines to trees", lambda: said([reader, "jansson", paths[0]])),
    ]
    rows = []
    times = {name: [] for name, _ in contenders}
    for _ in range(1 if quick else 3):
        for name, measure in contenders:
            times[name].append(measure())
    parsing = median(times["lines parsed into records"])
    for name, _ in contenders:
        rows.append([name, number(median(times[name])), number(median(times[name]) / parsing)])
        print(f"{name:42} {median(times[name]):8.2f} us a line, {median(times[name]) / parsing:5.2f} times parsing")
    write_csv("evaluate.csv", ["what", "us_per_line", "times_parsing"], rows)


# ---- the pages ----


def read_csv(name):
    with open(os.path.join(RESULTS, name)) as f:
        return list(csv.DictReader(f))


def markdown(header, rows):
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page_tables():
    rounds_csv = read_csv("rounds.csv")
    names = ["gbose", "OpenBLAS", "OpenBLAS forced", "BLIS", "BLIS forced", "numpy expert", "numpy research",
             "flops at peak"]
    cases = list(dict.fromkeys((r["learner"], r["arms"], r["dim"], r["state"], r["survivors"]) for r in rounds_csv))
    us = {(r["learner"], r["arms"], r["dim"], r["state"], r["contender"]): r for r in rounds_csv}
    table, ratios = [], []
    for case in cases:
        learner, arms, dim, state, survivors = case
        row = [us[learner, arms, dim, state, n] for n in names]
        label = f"{learner} ({arms}, {dim}), {state}"
        if learner == "gbose":
            label += f", {survivors.replace('1e+03', '1000')} survive"
        table.append([label] + [number(float(r["microseconds"])) for r in row])
        ratios.append([label] + [number(float(r["ratio to gbose"])) + "x" for r in row[1:-1]] +
                      ["; ".join(f"{100 * float(r['spread']):.0f}%" for r in row[:3:2])])
    machine = read_csv("machine.csv")[0]
    yield "machine", (f"{machine['processor']}, {machine['isa']}, one core: {machine['peak Gflop/s']} Gflop/s at peak, "
                      f"{machine['bandwidth Gbyte/s']} Gbyte/s from memory.")
    yield "rounds", markdown(["(arms, d)"] + names, table)
    yield "ratios", markdown(["(arms, d)"] + names[1:-1] + ["spread of gbose; OpenBLAS forced"], ratios)
    kernels_csv = read_csv("kernels.csv")
    peers = [n for n in dict.fromkeys(r["contender"] for r in kernels_csv) if n != "gbose"]
    rows = []
    for what, d in dict.fromkeys((r["kernel"], r["dim"]) for r in kernels_csv):
        mine = {r["contender"]: r for r in kernels_csv if (r["kernel"], r["dim"]) == (what, d)}
        rows.append([f"{what}, d = {d}", number(float(mine["gbose"]["microseconds"]))] +
                    [f"{float(mine[p]['ratio to gbose']):.2f}x" for p in peers])
    yield "kernels", markdown(["", "gbose, us"] + peers, rows)
    ball_csv = read_csv("ball.csv")
    yield "ball", markdown(["(arms, d)", "gbose, us", "bose, us", "ratio"],
                           [[f"({r['arms']}, {r['dim']})", number(float(r["gbose, us"])), number(float(r["bose, us"])),
                             number(float(r["ratio"])) + "x"] for r in ball_csv])
    growth_csv = read_csv("growth.csv")
    slope = loglog_slope([float(r["arms"]) for r in growth_csv], [float(r["microseconds"]) for r in growth_csv])
    yield "growth", markdown(["arms"] + [r["arms"] for r in growth_csv],
                             [["us"] + [number(float(r["microseconds"])) for r in growth_csv],
                              ["survivors"] + [r["survivors"] for r in growth_csv]]) + f"\n\nSlope: {slope:.2f}."
    isa_csv = read_csv("isa.csv")
    isas = list(dict.fromkeys(r["isa"] for r in isa_csv))
    rows = []
    for case in dict.fromkeys((r["learner"], r["arms"], r["dim"]) for r in isa_csv):
        mine = {r["isa"]: float(r["microseconds"]) for r in isa_csv if (r["learner"], r["arms"], r["dim"]) == case}
        rows.append([f"{case[0]} ({case[1]}, {case[2]}), fresh"] + [number(mine[i]) for i in isas])
    yield "isa", markdown([""] + [f"{i}, us" for i in isas], rows)
    crowd = read_csv("learners.csv")
    yield "learners", markdown(["learners"] + [f"{int(r['learners']):,}" for r in crowd],
                               [["us per round"] + [number(float(r["microseconds"])) for r in crowd]])
    yield "features", markdown(["ten arms, eighteen columns", "us", "above the arithmetic"],
                               [[r["contender"], number(float(r["microseconds"])),
                                 f"{float(r['above the arithmetic']):.2f}"] for r in read_csv("features.csv")])
    yield "evaluate", markdown(["", "microseconds a line", "times parsing"],
                               [[r["what"], r["us_per_line"], r["times_parsing"]] for r in read_csv("evaluate.csv")])
    yield "threads", markdown(["threads", "rounds a second, best", "gain in wall time, best", "gain by CPU, median"],
                              [[r["threads"], number(float(r["rounds a second, best"])),
                                r["gain in wall time, best"] + "x", r["gain by CPU, median"] + "x"]
                               for r in read_csv("threads.csv")])


def renew_pages():
    """Every table stands on one of the pages, between marks that have its name."""
    tables = dict(page_tables())
    for page in ("performance.md", "evaluation.md"):
        path = os.path.join(HERE, "..", "docs", page)
        with open(path) as f:
            text = f.read()
        for name in list(tables):
            begin, end = f"<!-- bench: {name} -->\n", "<!-- /bench -->"
            if begin in text:
                at = text.index(begin) + len(begin)
                text = text[:at] + tables.pop(name) + "\n" + text[text.index(end, at):]
        with open(path, "w") as f:
            f.write(text)
    assert not tables, f"no page has a place for {', '.join(tables)}"
    for figure in ("rounds", "roofline"):
        drawn = os.path.join(HERE, "..", "docs", "figures", f"bench-{figure}.svg")
        subprocess.run([sys.executable, os.path.join(HERE, "..", "scripts", "figures.py"), figure, RESULTS, drawn], check=True)


SECTIONS = {f.__name__: f for f in (rounds, auto, ball, growth, kernels, isa, learners, threads, features, evaluate)}


def main():
    global RESULTS
    arguments = sys.argv[1:]
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return
    quick = "--quick" in arguments
    if quick and "--docs" in arguments:
        print("bench: --docs is for whole measurements; leave out --quick", file=sys.stderr)
        sys.exit(2)
    if quick:
        RESULTS = os.path.join(WORK, "quick")
    wanted = [a for a in arguments if a not in ("--quick", "--docs")]
    unknown = [a for a in wanted if a not in SECTIONS]
    if unknown:
        print(f"bench: there is no section '{unknown[0]}'; there are: {' '.join(SECTIONS)}, and --quick and --docs", file=sys.stderr)
        sys.exit(2)
    os.makedirs(WORK, exist_ok=True)
    os.makedirs(RESULTS, exist_ok=True)
    for name, section in SECTIONS.items():
        if name in wanted or not (wanted or arguments == ["--docs"]):
            print(f"== {name}")
            section(quick)
    if "--docs" in arguments:
        renew_pages()


main()
