#!/usr/bin/env bash
# What the command says to good and bad words.
source "$(dirname "$0")/lib.sh"

[[ $("$gbose" --version) =~ ^gbose\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "version"
"$gbose" --help | grep -q simulate || fail "help"
for command in paper simulate collect worlds learners schema log learn evaluate effects; do
    "$gbose" help $command | grep -q "Example" || fail "help $command has no example"
    "$gbose" $command --help | cmp -s - <("$gbose" help $command) || fail "$command --help"
done
for command in $("$gbose" --help | sed -n '/^Usage/,/^Examples/s/^  \([a-z]*\) .*/\1/p'); do
    wide=$("$gbose" help $command | sed '/^Example/,$d' | grep -E '.{81}') && fail "help $command is wider than 80 columns: $wide"
done
"$gbose" learners | grep -q semi-ts || fail "learners"
[[ $("$gbose" learners | head -1) == gbose-auto* ]] || fail "gbose-auto is not the first"
for list in learners worlds; do
    [[ -z $("$gbose" $list | awk 'length($0) > 80') ]] || fail "gbose $list is wider than 80 columns"
done
expect_error 2 "did you mean 'gbose'" "$gbose" learners gbos
"$gbose" learners gbose | grep -q "lone=skip" || fail "learners gbose"
"$gbose" worlds | grep -q heartsteps || fail "worlds"
"$gbose" worlds paper | grep -q "log-sine" || fail "worlds paper"

sim=("$gbose" simulate --world paper --learner gbose)
expect_error 2 "did you mean 'simulate'" "$gbose" simulat
expect_error 2 "did you mean 'gbose'" "$gbose" simulate --world paper --learner gbos
expect_error 2 "did you mean 'paper'" "$gbose" simulate --world papre --learner gbose
expect_error 2 "did you mean 'shift'" "$gbose" simulate --world paper:shft=zero --learner gbose
expect_error 2 "did you mean 'gamma'" "$gbose" simulate --world paper --learner gbose:gama=1
expect_error 2 "gamma must be a positive number" "$gbose" simulate --world paper --learner gbose:gamma=x
expect_error 2 "worlds have no features of the round" "$gbose" simulate --world paper --learner gbose-auto:round=2
expect_error 2 "--world is missing" "$gbose" simulate --learner gbose
expect_error 2 "--learner is missing" "$gbose" simulate --world paper
expect_error 2 "--rounds must be a whole number" "${sim[@]}" --rounds -5
expect_error 2 "--rounds must be a whole number" "${sim[@]}" --rounds 1e4
expect_error 2 "--reps must be a whole number" "${sim[@]}" --reps 0
expect_error 2 "--threads must be a whole number" "${sim[@]}" --threads 0
expect_error 2 "--rounds needs a value" "${sim[@]}" --rounds
expect_error 2 "unknown option '--round'; did you mean '--rounds'" "${sim[@]}" --round 10
expect_error 2 "did you mean '--world'" "$gbose" simulate --wrld paper
expect_error 2 "it knows --world" "$gbose" simulate --frobnicate
expect_error 2 "there are gbose-auto, gbose, bose" "$gbose" simulate --world paper --learner thompson
expect_error 2 "one by one: gbose-auto lin-ts" "$gbose" simulate --world paper --learner gbose-auto,lin-ts
expect_error 2 "given twice" "${sim[@]}" --rounds 10 --rounds 20
expect_error 2 "given twice" "$gbose" simulate --world paper paper --learner gbose
expect_error 2 "given twice" "$gbose" simulate --world paper --learner gbose gbose
expect_error 2 "no learner has the option" "${sim[@]}" --sweep epsilon=0.1,0.2
expect_error 2 "gamma must be" "${sim[@]}" --sweep gamma=0.1,-2
expect_error 2 "--sweep must be" "${sim[@]}" --sweep gamma
expect_error 2 "--shard must be K/N" "${sim[@]}" --shard 4/3 --out d
expect_error 2 "--shard needs --out" "${sim[@]}" --shard 1/3
expect_error 2 "--setup must be" "$gbose" paper --setup 10by2
expect_error 2 "unexpected 'quick'" "$gbose" paper quick
expect_error 2 "cannot make directory" "${sim[@]}" --rounds 10 --out /dev/null/results
touch afile
expect_error 2 "afile" "${sim[@]}" --rounds 10 --out afile
expect_error 2 "did you mean 'paper'" "$gbose" paper:x=1
expect_error 2 "leave out the other options" "$gbose" simulate --plan afile --world paper
expect_error 2 "afile" "$gbose" simulate --plan afile
expect_error 2 "simulate: cannot read nofile.json: No such file" "$gbose" simulate --plan nofile.json
"$gbose" help help >/dev/null

# what is printed must arrive
code=0
"$gbose" learners >/dev/full 2>err || code=$?
[[ $code == 1 && $(<err) == *"standard output"* ]] || fail "a full disk behind standard output: $code, $(cat err)"

# a seed named in a spec is that seed, also when it is the default one
number() { "$gbose" simulate --world paper --rounds 300 --reps 1 --out - "$@" | grep '^uniform' | awk '{print $2}'; }
[[ $(number --learner uniform:seed=1 --seed 5) != "$(number --learner uniform --seed 5)" ]] || fail "seed=1"
[[ $(number --learner uniform:seed=5 --seed 5) == "$(number --learner uniform --seed 5)" ]] || fail "seed=5"
expect_error 2 "cannot read" "$gbose" collect nowhere
