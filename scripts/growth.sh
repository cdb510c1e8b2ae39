#!/usr/bin/env bash
# How the regret of gbose grows with T in shift (iii): docs/figures/growth.svg, and the slopes on standard output.
# Usage: scripts/growth.sh [PROGRAM]     (build/release/gbose unless named; about a minute)
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/release/gbose}
out=results/growth
mkdir -p docs/figures

"$program" simulate --world paper:arms=2,dim=10,shift=cos-best paper:arms=10,dim=2,shift=cos-best \
    paper:arms=10,dim=10,shift=cos-best --learner gbose:intercept=1 --sweep gamma=0.05,0.1,0.2,0.4 \
    --rounds 100000 --reps 20 --seed 3 --out "$out"

python3 - "$out/curves.csv" >"$out/growth.dat" <<'END'
import csv, math, sys
blocks = {}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    blocks.setdefault((row["world"], row["value"]), []).append(tuple(float(row[k]) for k in ("round", "q1", "median", "q3")))
for (world, gamma), points in blocks.items():
    points = [p for p in points if p[0] >= 1000]
    # least squares of log regret on log t, at points spread evenly in log t
    even = [min(points, key=lambda p: abs(math.log(p[0] / 1000) - k * math.log(100) / 20)) for k in range(21)]
    x, y = [math.log(p[0]) for p in even], [math.log(p[2]) for p in even]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
    option = dict(part.split("=") for part in world.split(":")[1].split(","))
    print(f'"N = {option.get("arms", 10)}, d = {option.get("dim", 2)}: slope {slope:.2f}"')
    for p in points:
        print(*p)
    print("\n")
    sys.stderr.write(f"{world:45s} gamma {gamma:5s} slope {slope:.2f}\n")
END

gnuplot <<END
set terminal svg size 760,460 font "sans,13" background "white"
set output "docs/figures/growth.svg"
set logscale xy
set xlabel "T"; set ylabel "cumulative regret"
set xrange [1000:100000]; set yrange [3:3000]
set format x "10^{%T}"
set key top left Left reverse samplen 2
set grid back lc rgb "#dddddd" lw 0.5
set border 3
set tics nomirror
array colour[3] = ["#0072b2", "#d55e00", "#009e73"]
plot for [i=0:2] "$out/growth.dat" index i using 1:2:4 with filledcurves fs transparent solid 0.15 noborder lc rgb colour[i+1] notitle, \
     for [i=0:2] "$out/growth.dat" index i using 1:3 with lines lw 2 lc rgb colour[i+1] title columnheader(1), \
     0.25*sqrt(x) with lines dt 2 lc rgb "black" title "sqrt(T)", \
     0.004*x with lines dt 3 lc rgb "black" title "T"
END
