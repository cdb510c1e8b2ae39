#!/usr/bin/env bash
# How the regret of gbose grows with T in shift (iii): docs/figures/growth.svg, and the slopes on standard output.
# Usage: scripts/growth.sh [PROGRAM]     (build/release/gbose unless named; about a minute)
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/release/gbose}
out=results/growth

"$program" simulate --world paper:arms=2,dim=10,shift=cos-best paper:arms=10,dim=2,shift=cos-best \
    paper:arms=10,dim=10,shift=cos-best --learner gbose:intercept=1 --sweep gamma=0.05,0.1,0.2,0.4 \
    --rounds 100000 --reps 20 --seed 3 --out "$out"
python3 scripts/figures.py growth "$out/curves.csv" docs/figures/growth.svg
