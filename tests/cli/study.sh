#!/usr/bin/env bash
# Studies played whole, in parts, on threads and ranks, stopped and killed: always the same bytes.
source "$(dirname "$0")/lib.sh"

study=(simulate --world paper:arms=4,dim=3,shift=log-sine gallery:shift=jumps
    --learner gbose:intercept=1 bose semi-ts:draws=50 lin-ts uniform
    --sweep gamma=0.05,0.1,0.2 --rounds 1500 --reps 4 --seed 5)

"$gbose" "${study[@]}" --threads 1 --out one >table 2>err
[[ ! -s err ]] || fail "standard error without a terminal: $(cat err)"
for file in runs.csv curves.csv table.csv table.md study.json report.html; do
    [[ -s one/$file ]] || fail "$file is missing"
done
ls one/figures/*.svg one/figures/*.png one/figures/*.pdf >/dev/null || fail "figures are missing"
! grep -iq "<title>gnuplot" one/figures/*.svg || fail "a figure shows names of its own on pointing at a curve"
# 2 worlds x (4 learners x 3 values + 1) x 4 repetitions, and 2 x 5 x 4 fresh ones
[[ $(wc -l <one/runs.csv) == $((1 + 2 * 13 * 4 + 2 * 5 * 4)) ]] || fail "runs.csv has $(wc -l <one/runs.csv) lines"

"$gbose" "${study[@]}" --threads 2 --out two >/dev/null
same one two

# ranks
if [[ $(ldd "$gbose") == *libmpi* ]]; then
    for n in 1 2 4; do
        mpirun --allow-run-as-root --oversubscribe -n $n "$gbose" "${study[@]}" --out ranks$n >/dev/null
        same one ranks$n
    done

    # one rank alone is told to stop: no table of what happens to be there
    mpirun --allow-run-as-root --oversubscribe -n 2 "$gbose" simulate --world paper:dim=10 --learner gbose \
        --rounds 30000 --reps 3000 --out lost >out 2>err &
    launcher=$!
    for _ in {1..1000}; do
        rank=$(grep -lsz '^OMPI_COMM_WORLD_RANK=1$' $(pgrep -P $launcher | sed 's|.*|/proc/&/environ|') || true)
        [[ -z $rank ]] || break
        sleep 0.05
    done
    sleep 0.5
    kill -TERM "$(cut -d/ -f3 <<<"$rank")"
    code=0
    wait $launcher || code=$?
    [[ $code != 0 && ! -e lost/table.md ]] || fail "a table although a rank was stopped"
else
    echo "built without MPI: ranks are not tried"
fi

# shards, collected in another order
for k in 1 2 3; do
    "$gbose" "${study[@]}" --shard $k/3 --out shard$k 2>/dev/null
done
expect_error 2 "runs are missing" "$gbose" collect shard1 shard3 --out whole
"$gbose" collect shard3 shard1 shard2 --out whole >/dev/null
for file in runs.csv curves.csv table.csv table.md study.json; do
    cmp one/$file whole/$file || fail "collected $file"
done

# killed, and stopped by a signal, at several moments; then the same command again
stops=0
for moment in 0 0.1 0.3; do
    for signal in KILL INT; do
        dir=$signal-$moment
        code=0
        begin "$gbose" "${study[@]}" --threads 1 --out $dir >out 2>err
        under_way $dir
        sleep $moment
        kill -$signal $started 2>/dev/null || true
        wait $started 2>/dev/null || code=$?
        if [[ $code == 130 ]]; then
            stops=$((stops + 1))
            grep -qF "to go on: '$gbose' simulate " err && grep -q -- "--out $dir\$" err ||
                fail "what to do after a stop: $(cat err)"
            hint=$(sed -n 's/.*to go on: //p' err)
            [[ ! -e $dir/table.md ]] || fail "a table of a study that was stopped"
        fi
        if [[ $code == 130 ]]; then
            bash -c "$hint" >/dev/null # it can be pasted
        else
            "$gbose" "${study[@]}" --out $dir >/dev/null
        fi
        same one $dir
    done
done

[[ $stops -gt 0 ]] || fail "no study was stopped before its end"

# a journal with a torn end, and one with a broken byte: what is whole is used, the rest is played again
cp -r one torn && rm torn/*.csv torn/*.md torn/*.html && rm -r torn/figures
truncate -s -5 torn/journal.bin
"$gbose" "${study[@]}" --out torn >/dev/null
same one torn
size=$(stat -c %s one/journal.bin)
cp -r one broken
printf 'x' | dd of=broken/journal.bin bs=1 seek=$((size / 2)) conv=notrunc status=none
"$gbose" "${study[@]}" --out broken >/dev/null
same one broken

# two at once on one directory: one plays (and rests until the other has looked), the other is told
begin "$gbose" "${study[@]}" --threads 1 --out busy >/dev/null
under_way busy
kill -STOP $started
expect_error 2 "in use by another gbose" "$gbose" "${study[@]}" --threads 1 --out busy
kill -CONT $started
wait $started || fail "of two at once, the first ends with $?"
same one busy

# the plan of a study plays it again
"$gbose" simulate --plan one/study.json --out again >/dev/null
for file in runs.csv curves.csv table.csv table.md study.json; do
    cmp one/$file again/$file || fail "played again: $file"
done

# labels with signs that mean something to gnuplot; one that is not one line, and absurd numbers, are refused
plan='{"study": "simulate", "worlds": ["paper"], "learners": [{"label": "50%% \"a\" %d `b` $c", "spec": "gbose",
    "values": []}, {"label": "LABEL", "spec": "uniform", "values": []}], "rounds": 300, "repetitions": 3, "fresh": 0, "seed": 1}'
echo "${plan//LABEL/100%}" >labels.json
"$gbose" simulate --plan labels.json --out labels >/dev/null
grep -qF '100%' labels/table.md || fail "no label 100%: $(cat labels/table.md)"
grep -q '100%<' labels/figures/*difference*.svg || fail "no label 100% in a figure"
echo "${plan//LABEL/two\\nlines}" >labels.json
expect_error 2 "one line of text" "$gbose" simulate --plan labels.json --out lines
echo "${plan/\"repetitions\": 3/\"repetitions\": 4611686018427387905}" >labels.json
expect_error 2 "repetitions" "$gbose" simulate --plan labels.json --out many

# closed standard files: what is said is lost, and goes into no file of ours
"$gbose" "${study[@]}" --threads 1 --out closed >/dev/null 2>&- <&-
same one closed
begin "$gbose" "${study[@]}" --threads 1 --out closed2 >/dev/null 2>&- <&-
under_way closed2
kill -INT $started
wait $started || true
! grep -qa "to go on" closed2/journal.bin || fail "a message in the journal"
"$gbose" "${study[@]}" --out closed2 >/dev/null
same one closed2
code=0
"$gbose" worlds >&- 2>err || code=$?
[[ $code == 1 ]] || fail "a closed standard output is not an error: $code"

# another study's directory
expect_error 2 "holds another study" "$gbose" simulate --world paper --learner gbose --out one
same one two

# a disk that is full: one line, and no table that looks whole
expect_error 1 "cannot write" bash -c 'ulimit -f 8; exec "$@"' - "$gbose" "${study[@]}" --threads 1 --out full
[[ ! -e full/table.md && ! -e full/runs.csv ]] || fail "a table although the disk was full"
"$gbose" "${study[@]}" --out full >/dev/null
same one full

# on a terminal there is progress; a study of one value has no second phase
script -qec "'$gbose' simulate --world paper:arms=20,dim=10 --learner gbose --rounds 8000 --reps 12 --threads 1 --out -" typescript >/dev/null
grep -q "of 12 runs" typescript || fail "no progress on a terminal"
script -qec "NO_COLOR=1 LC_ALL=C '$gbose' simulate --world paper:arms=20,dim=10 --learner gbose --rounds 8000 --reps 12 --threads 1 --out -" \
    plain >/dev/null
grep -q '[[]#' plain || fail "no plain bar: $(head -c 300 plain)"
! grep -qP '[^\x00-\x7f]|\x1b\[[0-9;]*m' plain || fail "colours or letters beyond ASCII"

# quiet: nothing on a success, and the table alone where nothing is kept
"$gbose" "${study[@]}" --quiet --out two >out 2>err
[[ ! -s out && ! -s err ]] || fail "--quiet says $(cat out err)"
"$gbose" simulate --world paper --learner gbose --rounds 300 --reps 2 --quiet >out
grep -q '^gbose' out || fail "--quiet without a directory has no table"
! grep -q "Less is better" out || fail "--quiet has notes"

# tables fit a terminal
LC_ALL=C "$gbose" "${study[@]}" --out one | awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' >wide ||
    fail "wider than 80 columns: $(head -3 wide)"

# the paper's study: gbose-auto is the last row of every table and the thick line of every figure
"$gbose" paper --quick --setup 2x2,3x2 --rounds 300 --out paper >table
rows=$(awk '/^\|/ { row = $2; next } row != "" { print row; row = "" } END { if (row != "") print row }' paper/table.md)
[[ $(sort -u <<<"$rows") == gbose-auto && $(wc -l <<<"$rows") == 8 ]] || fail "last rows: $rows"
for group in 2x2 3x2; do
    [[ $(grep -c 'lw 4 dt 1 lc rgb "#B00020"' paper/figures/regret-$group.gp) == 3 ]] || fail "no thick line: $group"
    [[ $(grep -c 'gbose-auto.* font ":Bold"' paper/figures/regret-$group.gp) == 3 ]] || fail "no bold label: $group"
    [[ $(grep -c 'ps 1.1 lw 4' paper/figures/difference-$group.gp) == 3 ]] || fail "no thick interval: $group"
done
for file in table paper/table.md paper/report.html; do
    tr '\n' ' ' <$file | tr -s ' ' | grep -q "gbose-auto is not in the paper" || fail "$file does not say what gbose-auto is"
done
[[ $(grep -c "The thick line is gbose-auto" paper/report.html) -ge 2 ]] || fail "the captions do not say what is thick"
# On a phone panels stack, and a figure that has only one is shown whole.
grep -q '<figure>' paper/report.html && grep -q '"wide stacks"' paper/report.html || fail "panels do not stack"
"$gbose" simulate --world gallery --learner gbose lin-ts --rounds 200 --reps 2 --quiet --out lone >/dev/null
[[ $(grep -c '<figure class="single">' lone/report.html) == 2 ]] || fail "a figure of one panel is wider than a phone"
