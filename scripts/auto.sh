#!/usr/bin/env bash
# What docs/learners/gbose-auto.md says of gbose-auto's regret, measured.
# Usage: scripts/auto.sh worlds|spread|ablation|units|round [SEED [REPS]]
#   worlds     gbose-auto beside the learners of the paper, each with the best of six widths, in 33 worlds: the
#              table on standard output, and docs/figures/auto.svg                                  (20 minutes)
#   spread     200 repetitions of gbose-auto and uniform in the same worlds: the worst run              (10 minutes)
#   ablation   gbose-auto with one part of it taken out at a time, by tests/auto_ablation.c            (5 minutes)
#   units      gbose-auto with features multiplied and moved, by tests/auto_units.c                   (10 minutes)
#   round      gbose-auto with features of the round that say all of v, or nothing, by tests/auto_round.c (1 minute)
# Seed 2 and 10 (spread: 200, the last three: 20) repetitions unless named. A study that was stopped goes on.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-worlds} seed=${2:-2}
program=build/release/gbose
shifts=(zero log-sine cos-best)
worlds=()
for size in arms=2,dim=10 arms=10,dim=2 arms=10,dim=10; do
    for shift in "${shifts[@]}"; do worlds+=("paper:$size,shift=$shift"); done
done
worlds+=(
    gallery:shift=zero gallery:shift=zero,noise=1 gallery:shift=zero,correlation=0.8
    gallery:shift=random-walk gallery:shift=random-walk,tail=t3 gallery:shift=random-walk,drift=0.01
    gallery:shift=jumps gallery:shift=jumps,contexts=blocks,arms=5,dim=4
    gallery:shift=season gallery:shift=season,noise=1,arms=3
    gallery:shift=context-sine gallery:shift=context-sine,scale=1,arms=4
    gallery:shift=context-sine,contexts=blocks,arms=2,dim=10
    gallery:shift=reward-driven gallery:shift=reward-driven,arms=50,dim=10
    kim-paik:shift=zero kim-paik:shift=log kim-paik:shift=log,contexts=shared
    kim-paik:shift=minus-best kim-paik:shift=minus-best,arms=6
    krishnamurthy krishnamurthy:features=dirichlet krishnamurthy:noise=0.5
    heartsteps
)

case $what in
worlds)
    out=results/auto-worlds-$seed
    "$program" simulate --world "${worlds[@]}" \
        --learner gbose-auto gbose:intercept=1 bose:intercept=1 action-ts:intercept=1 semi-ts lin-ts uniform \
        --sweep gamma=0.01,0.03,0.1,0.3,1,3 --seed "$seed" --reps "${3:-10}" --out "$out" >/dev/null
    python3 - "$out/runs.csv" <<'END' | tee "$out/auto.md"
import csv, statistics, sys
runs, order = {}, []
for row in csv.DictReader(open(sys.argv[1], newline="")):
    if row["phase"] == "tune":  # the repetitions that widths were chosen on: for all alike
        if row["world"] not in order:
            order.append(row["world"])
        cell = runs.setdefault((row["world"], row["learner"].split(":")[0]), {})
        cell.setdefault(row["value"], []).append(float(row["regret"]))
names = ["gbose", "bose", "action-ts", "semi-ts", "lin-ts"]
number = lambda x: f"{x:.1f}" if x < 100 else f"{x:.0f}"
print("| world | gbose-auto, quartiles | " + " | ".join(names) + " | uniform | to the best | to gbose |")
print("|---" * (len(names) + 5) + "|")
for world in order:
    auto = next(iter(runs[world, "gbose-auto"].values()))
    median = statistics.median(auto)
    low, _, high = statistics.quantiles(auto, n=4, method="inclusive")
    best = [min(map(statistics.median, runs[world, name].values())) for name in names]
    uniform = statistics.median(next(iter(runs[world, "uniform"].values())))
    print(f"| `{world}` | **{number(median)}** [{number(low)}, {number(high)}] | " + " | ".join(map(number, best)) +
          f" | {number(uniform)} | {median / min(best):.2f} | {median / best[0]:.2f} |")
END
    python3 scripts/figures.py auto "$out/auto.md" docs/figures/auto.svg
    ;;
spread)
    out=results/auto-spread-$seed
    "$program" simulate --world "${worlds[@]}" --learner gbose-auto uniform --seed "$seed" --reps "${3:-200}" \
        --out "$out" >/dev/null
    python3 - "$out/runs.csv" <<'END'
import csv, statistics, sys
runs = {}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    runs.setdefault(row["world"], {}).setdefault(row["learner"], []).append(float(row["regret"]))
print("| world | median | 90% | worst | median of uniform | runs worse than that |")
print("|---|---|---|---|---|---|")
for world, of in runs.items():
    auto, uniform = sorted(of["gbose-auto"]), statistics.median(of["uniform"])
    print(f"| `{world}` | {statistics.median(auto):.1f} | {auto[int(0.9 * len(auto))]:.1f} | {auto[-1]:.1f} | "
          f"{uniform:.0f} | {sum(r > uniform for r in auto)} |")
END
    ;;
ablation)
    build/release/tests/auto_ablation "$seed" "${3:-20}"
    ;;
units)
    build/release/tests/auto_units "$seed" "${3:-20}"
    ;;
round)
    build/release/tests/auto_round "$seed" "${3:-20}"
    ;;
*)
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
