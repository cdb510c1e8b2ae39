#!/usr/bin/env bash
# Logs: written, checked, converted, learned from, judged.
source "$(dirname "$0")/lib.sh"

world=gallery:shift=season,arms=4,dim=3
"$gbose" simulate --world $world --learner gbose-auto:floor=0.2 --rounds 4000 --log a.jsonl
"$gbose" simulate --world $world --learner gbose-auto:floor=0.2 --rounds 4000 --log b.jsonl.gz
[[ $(wc -l <a.jsonl) == 4000 ]] || fail "simulate --log wrote $(wc -l <a.jsonl) lines"
zcat b.jsonl.gz | cmp - a.jsonl || fail "packed and plain logs differ"
expect_error 2 "one --world and one --learner" "$gbose" simulate --world $world paper --learner gbose --log x
expect_error 2 "goes without --reps" "$gbose" simulate --world $world --learner gbose --reps 3 --log x

# An honest log is fine; one with another log's probabilities is not.
"$gbose" log check a.jsonl >checked || fail "log check of an honest log: $(cat checked)"
grep -q "as drawn, as far" checked || fail "log check: $(cat checked)"
sed 's/"pmf":\[[^]]*\]/"pmf":[0.25,0.25,0.25,0.25]/' a.jsonl >lies.jsonl
! "$gbose" log check lies.jsonl >checked || fail "a log with wrong probabilities was taken for right"
grep -q "NOT as drawn" checked || fail "log check: $(cat checked)"
"$gbose" evaluate lies.jsonl --policy logged uniform | grep -q "^propensities: arms were not drawn as logged" || fail "evaluate does not say that a log lies"

# Formats: what is converted there and back is the same.
"$gbose" log convert a.jsonl --to dsjson --out a.dsjson
[[ $(wc -l <a.dsjson) == 4000 ]] || fail "dsjson has $(wc -l <a.dsjson) lines"
"$gbose" log convert a.jsonl --to csv --out a.csv
"$gbose" log convert a.csv --out back.jsonl
for log in a.jsonl a.dsjson back.jsonl; do # estimates that need no contexts: rounds, level, ips, snips
    "$gbose" evaluate $log --policy logged uniform arm=2 --range -9,9 --out of >/dev/null
    cut -d, -f1,2,8,11,12 of/policies.csv >$log.csv
    cmp $log.csv a.jsonl.csv || fail "$log gives other estimates"
done

"$gbose" learn a.csv --learner gbose --out table.state >/dev/null
"$gbose" learn a.jsonl --learner gbose --out lines.state >/dev/null
cmp table.state lines.state || fail "a table has other contexts than the lines that it was made of"

# Judging: which one is better is known, and the page is there.
"$gbose" evaluate a.jsonl b.jsonl.gz --policy logged uniform --learner gbose-auto --range -9,9 --by id:1 --out judged >said
grep -q "^uniform is worse than logged by .*valid at any time" said || fail "evaluate says: $(cat said)"
grep -q "^gbose-auto is better than logged by" said || fail "evaluate says: $(cat said)"
for file in report.html policies.csv curve.csv audit.csv groups.csv difference.svg weights.svg support.svg audit.svg; do
    [[ -s judged/$file ]] || fail "evaluate --out left no $file"
done
[[ $(wc -l <judged/policies.csv) == 4 ]] || fail "policies.csv"

# Tables fit 80 columns, names of any length; sentences are as long as they are.
awk '/^policy|^estimates|^id  / { table = 1 } table && length > 80 { print; bad = 1 } END { exit bad }' said || fail "a table of evaluate is wider than 80 columns"
long=greedy:a-rather-long-name-of-a-state-that-somebody-keeps-somewhere.state
"$gbose" learn a.jsonl --learner gbose --out ${long#greedy:} >/dev/null
"$gbose" evaluate a.jsonl --policy logged $long --range -9,9 >said
awk '/^policy/ { table = 1 } table && length > 80 { print; bad = 1 } END { exit bad }' said || fail "a long name makes a table wide"
grep -q "^$long\$" said || fail "a long name has a line of its own: $(cat said)"

# Figures that cannot be drawn are an error, and all else is there; without gnuplot the page says so.
mkdir fake none
printf '#!/bin/sh\necho "no ink left" >&2\nexit 1\n' >fake/gnuplot
chmod +x fake/gnuplot
for command in "evaluate --policy logged uniform" effects; do
    code=0
    PATH="$PWD/fake:$PATH" "$gbose" ${command%% *} a.jsonl $(sed 's/^[a-z]*//' <<<"$command") --out inkless >said 2>complaint || code=$?
    [[ $code == 1 && -s inkless/report.html ]] || fail "$command with a gnuplot that fails: $code"
    grep -q "no ink left" complaint || fail "$command with a gnuplot that fails: $(cat complaint)"
    PATH="$PWD/none" "$gbose" ${command%% *} a.jsonl $(sed 's/^[a-z]*//' <<<"$command") --out bare >/dev/null || fail "$command without gnuplot"
    grep -q "gnuplot, which was not found" bare/report.html || fail "$command without gnuplot: the page does not say so"
done

# One that cannot be judged, and one that peeks.
"$gbose" simulate --world $world --learner gbose-auto --rounds 3000 --log narrow.jsonl
"$gbose" evaluate narrow.jsonl --policy logged uniform --range -9,9 >said
grep -q "cannot be said: .*could not have been played" said || fail "no word about support: $(cat said)"
awk '{ arm = substr($0, index($0, "\"arm\":") + 6, 1); good = index($0, "\"r\":-") == 0;
       list = ""; for (a = 0; a < 4; a++) list = list (a ? "," : "") ((good ? a == arm : a == (arm + 1) % 4) ? 1 : 0);
       sub(/}$/, ",\"policies\":{\"cheat\":[" list "]}}"); print }' a.jsonl >peeking.jsonl
"$gbose" evaluate peeking.jsonl --policy logged column:cheat | grep -q "^peek: column:cheat knows" || fail "peeking was not seen"

# Learning, in two parts or at once, and replay.
"$gbose" learn a.jsonl --learner gbose --out whole.state >/dev/null
head -2000 a.jsonl >first.jsonl
tail -2000 a.jsonl >second.jsonl
"$gbose" learn first.jsonl --learner gbose --out half.state >/dev/null
"$gbose" learn second.jsonl --from half.state --out both.state | grep -q "has learned 4000 rewards" || fail "learn --from"
"$gbose" learn first.jsonl second.jsonl --learner gbose --out two.state >/dev/null
cmp whole.state two.state || fail "two logs are not learned as one"

# Two that learned apart, merged.
"$gbose" learn second.jsonl --learner gbose --out other.state >/dev/null
"$gbose" merge half.state other.state --out merged.state | grep -q "knows 4000 rewards of 2 states" || fail "merge"
"$gbose" evaluate a.jsonl --policy uniform greedy:merged.state | grep -q "greedy:merged.state is better than uniform" || fail "merge: greedy"
expect_error 2 "counted twice" "$gbose" merge merged.state other.state --out x.state
"$gbose" merge merged.state half.state --out same.state | grep -q "knows 4000 rewards" || fail "merge: what it came from counts once"
"$gbose" learn second.jsonl --learner lin-ts --out lin.state >/dev/null
expect_error 2 "only learners of the same spec" "$gbose" merge half.state lin.state --out x.state
expect_error 2 "give two states" "$gbose" merge half.state --out x.state
expect_error 2 "out is missing" "$gbose" merge half.state other.state
[[ ! -e x.state ]] || fail "a refused merge left a file"
"$gbose" evaluate a.jsonl --policy uniform greedy:whole.state state:whole.state | grep -q "greedy:whole.state is better than uniform .* valid at any time unless it learned from this log" || fail "greedy"
"$gbose" evaluate a.jsonl --policy logged --learner gbose-auto --replay 0.05 | grep -q "learned from .* of 4000 rounds" || fail "replay"
expect_error 2 "take a smaller number" "$gbose" evaluate a.jsonl --policy logged --learner gbose-auto --replay 0.9

# Effects: of a log, and of a trial.
"$gbose" effects a.jsonl --out effects >said
grep -q "^x0 .* for each unit" said || fail "effects: $(cat said)"
[[ -s effects/report.html && -s effects/forest.svg && $(wc -l <effects/effects.csv) == 4 ]] || fail "effects --out"
"$gbose" effects a.jsonl --x 1,0,-1 | grep -q "^1,0,-1" || fail "effects --x"
awk 'BEGIN { srand(3); print "user,available,action,p,y,day"; for (u = 0; u < 40; u++) for (t = 0; t < 30; t++) { a = rand() < 0.6; print u "," (rand() < 0.9) "," a ",0.6," 2 + 0.5 * a + 2 * rand() - 1 "," t } }' >trial.csv
"$gbose" effects trial.csv --wcls --unit user --arm action --probability p --reward y --controls day >said
grep -q "^treatment raises the outcome by 0.[45]" said || fail "wcls: $(cat said)"
"$gbose" effects trial.csv --wcls --unit user --arm action --probability p --reward y --moderators day --out wcls >said
grep -q "^day: no effect on that of treatment can be seen; .* for each unit" said || fail "wcls, a moderator: $(cat said)"
grep -qE ",[0-9]{4},40,$" wcls/effects.csv || fail "wcls, counts are written out: $(cat wcls/effects.csv)"
grep -q "^40 participants" said || fail "wcls: $(cat said)"

awk 'BEGIN { srand(4); print "unit,available,action,probability,outcome,home"; for (t = 0; t < 1200; t++) { a = rand() < 0.3; print t % 40 "," (t % 7 > 0) "," a ",0.3," 2 + a + rand() "," t % 2 } }' >points.csv
"$gbose" effects points.csv | grep -qE "^treatment raises the reward by (0.9|1.0)[0-9]* \[" || fail "a trial as a log: $("$gbose" effects points.csv)"
"$gbose" evaluate points.csv --policy logged arm=1 --range 0,9 --by home | grep -q "^arm=1 is better than logged by" || fail "a trial as a log"
"$gbose" log check points.csv >checked || fail "the draws of a trial are not as logged: $(cat checked)"
[[ $(head -1 checked) == "decisions       1028" ]] || fail "rows of a trial where nothing was drawn"
printf 'arm,reward,p:a,p:b,x:age\n' >aged.csv
awk 'BEGIN { srand(5); for (t = 0; t < 600; t++) { b = rand() < 0.5; age = rand(); print (b ? "b" : "a") "," b * (1 + age) + rand() ",0.5,0.5," age } }' >>aged.csv
"$gbose" effects aged.csv >said
grep -qE "^b raises the reward by (0.9|1.0|1.1)[0-9]* \[" said || fail "effects by the names of a table: $(cat said)"
grep -q "^b\*age raises the reward by .* for each unit" said || fail "effects by the names of a table: $(cat said)"
sed '1s/action/sent/' points.csv >sent.csv
"$gbose" log convert sent.csv --format trial --arm sent | cmp - <("$gbose" log convert points.csv) || fail "a trial with another name"
sed '5s/^\([^,]*,[^,]*\),[01]/\1,2/' points.csv >action.csv
expect_error 2 "action.csv, line 5: the action is 2: it must be 0 or 1" "$gbose" log convert action.csv
expect_error 2 "there is no column 'nobody'; say which one it is with --unit" "$gbose" effects points.csv --unit nobody

# What is wrong is said with its line; --skip-bad goes on.
{ head -3 a.jsonl; echo '{"arm":0,"pmf":[1],'; tail -3 a.jsonl; } >broken.jsonl
expect_error 2 "broken.jsonl, line 4: column" "$gbose" evaluate broken.jsonl --policy logged
"$gbose" evaluate broken.jsonl --policy logged --skip-bad --range -9,9 | grep -q "; 1 broken line was skipped, the first: broken.jsonl, line 4" || fail "--skip-bad"
expect_error 2 "no log is given" "$gbose" evaluate --policy uniform
expect_error 2 "nothing is asked" "$gbose" evaluate a.jsonl
expect_error 2 "unknown policy 'unifrom'" "$gbose" evaluate a.jsonl --policy unifrom
expect_error 2 "did you mean 'gbose-auto'" "$gbose" evaluate a.jsonl --learner gbose-aut
expect_error 2 "nowhere.jsonl" "$gbose" evaluate nowhere.jsonl --policy uniform
expect_error 2 "--format must be" "$gbose" log check a.jsonl --format xml
expect_error 2 "gbose log check or gbose log convert" "$gbose" log
expect_error 2 "--out is missing" "$gbose" learn a.jsonl --learner gbose
printf 'arm,reward,p:a,p:b\na,1,0.5,0.5\n' >bare.csv
expect_error 2 "no contexts" "$gbose" learn bare.csv --learner gbose --out x.state
expect_error 2 "there is no column 'arm'" "$gbose" log check trial.csv
expect_error 2 "no line has a value 'nothing' to go by" "$gbose" evaluate a.jsonl --policy logged uniform --by nothing --range -9,9
expect_error 2 "no line has a value 'nothing' to go by" "$gbose" effects a.jsonl --by nothing
for column in arm played r reward why; do # groups by what came of the draw would be wrong in silence
    expect_error 2 "'$column' came of it" "$gbose" evaluate a.jsonl --policy logged uniform --by $column --range -9,9
    expect_error 2 "'$column' came of it" "$gbose" effects a.jsonl --by $column
done
"$gbose" effects a.jsonl --by id:1 >said
grep -q "^x0, id=3 " said || fail "effects --by COLUMN:N: $(cat said)"
expect_error 2 "a whole number from 1 to 200; got 'x'" "$gbose" effects a.jsonl --by id:x
expect_error 2 "--replay is for learners" "$gbose" evaluate a.jsonl --policy logged uniform --replay 0.1
for option in "--switch -1" "--shrink 0" "--horizon 0"; do
    expect_error 2 "gbose evaluate: --switch and --shrink must be above 0" "$gbose" evaluate a.jsonl --policy logged uniform --skip-bad $option
done
expect_error 2 "asks for nothing: all of its numbers are 0" "$gbose" effects a.jsonl --x 0,0,0
expect_error 2 "asks for nothing: it is the same column twice" "$gbose" effects a.jsonl --x "x1 less x1"
expect_error 2 "--controls is for a micro-randomised trial" "$gbose" effects a.jsonl --controls day
expect_error 2 "--by is not for --wcls" "$gbose" effects trial.csv --wcls --by day
expect_error 2 "gbose log check: unknown option '--ou'" "$gbose" log check a.jsonl --ou x
"$gbose" evaluate a.jsonl --policy logged logged --range -9,9 | grep -q "no round has told them apart: they do the same" || fail "a policy against itself"

# A line that says less than those before is named, and no other line suffers for it.
{ head -100 a.jsonl; echo '{"arm":1,"p":0.5,"n_arms":4,"r":1}'; tail -100 a.jsonl; } >mixed.jsonl
expect_error 2 "mixed.jsonl, line 101: only the played arm's probability is logged ('p'), and before it" "$gbose" evaluate mixed.jsonl --policy logged
expect_error 2 "mixed.jsonl, line 101: only the played arm's probability is logged; effects need" "$gbose" effects mixed.jsonl
sed 's/"x":[^r]*"r"/"r"/' mixed.jsonl >without.jsonl
"$gbose" evaluate without.jsonl --policy logged uniform --range -9,9 --skip-bad --out of | grep -q "201 decisions; 1 broken line" || fail "a line without pmf"
[[ $(cut -d, -f2 of/policies.csv | tail -1) == 200 ]] || fail "lines behind one without pmf were left out"
expect_error 2 "without.jsonl, line 1: there are no contexts ('x'); give --schema" "$gbose" effects without.jsonl
expect_error 2 "there are no contexts ('x'), which 'greedy:whole.state' needs" "$gbose" evaluate without.jsonl --policy greedy:whole.state
expect_error 2 "the log has no decision with a reward; 201 broken lines were skipped, the first: without.jsonl, line 1: there are no contexts" "$gbose" effects without.jsonl --skip-bad

# A log that was thinned unevenly is no sample of what was.
awk 'NR % 2 { sub(/}$/, ",\"drop\":0.5}") } { print }' first.jsonl >thinned.jsonl
for command in "evaluate --policy logged" effects "learn --learner gbose --out x.state"; do
    expect_error 2 "thinned.jsonl, line 2: this line was kept with probability 1 and others with 0.5" "$gbose" ${command%% *} thinned.jsonl $(sed 's/^[a-z]*//' <<<"$command")
done

# What a line lacks is said, and where.
while IFS='|' read -r line says; do
    echo "$line" >line.jsonl
    expect_error 2 "line.jsonl, line 1: $says" "$gbose" evaluate line.jsonl --policy logged
done <<'END'
{"arm":0,"x":[[1],[2]],"r":1}|'pmf' is missing
{"arm":0,"p":0,"n_arms":2,"x":[[1],[2]],"r":1}|'p' is 0: the probability of the arm played is above 0
{"arm":0,"p":1.5,"n_arms":2,"r":1}|'p' is 1.5
{"arm":0,"p":0.5,"r":1}|with 'p' alone, 'arms' or 'n_arms' says how many arms there are
{"arm":2,"p":0.5,"n_arms":2,"r":1}|'arm' is 2, and there are fewer arms
{"arm":0,"p":0.5,"n_arms":1,"r":1}|the numbers of 'pmf' add up to 0.5 instead of 1
{"arm":"b","pmf":[0.5,0.5],"r":1}|column 8: a number is expected, in 'arm'
{"arm":0,"pmf":[0.5,NaN],"r":1}|column 21: a number is expected, in 'pmf'
END

# What is no log says so, and what would be.
mkdir folder
expect_error 2 "folder is a folder, and no service keeps its store there" "$gbose" evaluate folder --policy logged
: >empty.jsonl
expect_error 2 "there is no round to propose a schema from" "$gbose" schema fit empty.jsonl
printf 'arm;reward;p:a\na;1;1\n' >semicolons.csv
expect_error 2 "columns must have commas between them; the header is 'arm;reward;p:a'" "$gbose" evaluate semicolons.csv --policy logged
printf 'shown,click,prob\na,1,0.5\n' >others.csv
expect_error 2 "there is no column 'arm'; say which one it is with --arm: shown, click, prob" "$gbose" evaluate others.csv --policy logged --arms a,b
expect_error 2 "there is no column 'unit'; say which one it is with --unit: shown, click, prob" "$gbose" effects others.csv --wcls
cp others.csv others.txt
expect_error 2 "others.txt, line 1: an object {...} is expected; if this is a table, say --format csv" "$gbose" evaluate others.txt --policy logged
"$gbose" evaluate - --policy logged uniform --range -9,9 <a.jsonl | head -2 >piped
"$gbose" evaluate a.jsonl --policy logged uniform --range -9,9 | head -2 | cmp - piped || fail "standard input gives other numbers"
printf '{"arm":0,"pmf":[1],"r":1,"t":%s}\n' 9 10 8 >times.jsonl
"$gbose" log check times.jsonl | grep -q "^time order      1 line is earlier" || fail "times that are numbers"

# A policy's table: one row for an arm, by columns that the log has, of features too.
printf '{"arms":["a","b"],"arm":%d,"pmf":[0.5,0.5],"r":%d,"user":{"device":"ios"}}\n' 0 1 1 0 0 1 1 0 >tabled.jsonl
printf 'arm,user.device,probability\na,ios,0.9\nb,ios,0.1\nb,web,1\n' >table.csv
"$gbose" evaluate tabled.jsonl --policy logged table:table.csv --out of >/dev/null
[[ $(cut -d, -f11 of/policies.csv | tail -1) == 0.9 ]] || fail "a table by a feature: $(cat of/policies.csv)" # mean of 2 * 0.9 * (1, 0, 1, 0)
printf 'arm,probability\na,0.9\nb,0.6\nc,0.7\n' >table.csv # of the round's arms, made to add up to 1
"$gbose" evaluate tabled.jsonl --policy logged table:table.csv --out of >/dev/null
[[ $(cut -d, -f11 of/policies.csv | tail -1) == 0.6 ]] || fail "a table that does not add up to 1: $(cat of/policies.csv)"
printf 'arm,user.device,probability\na,ios,0.9\nb,ios,0.1\nb,web,1\n' >table.csv
sed -i 's/user.device/user.size/' table.csv
expect_error 2 "there is no 'user.size', which table.csv goes by" "$gbose" evaluate tabled.jsonl --policy logged table:table.csv
printf 'arm,probability\na,0.5\na,0.6\n' >table.csv
expect_error 2 "table.csv, line 3: there is a row for 'a' already" "$gbose" evaluate tabled.jsonl --policy logged table:table.csv
sed 's/"b"/"a"/' tabled.jsonl >twins.jsonl
expect_error 2 "two arms of this round are called 'a'" "$gbose" evaluate twins.jsonl --policy logged arm=a
expect_error 2 "with LOW below HIGH; got '3,1'" "$gbose" evaluate a.jsonl --policy logged --range 3,1
expect_error 2 "gbose learn: lambda must be" "$gbose" learn a.jsonl --learner gbose:lambda=-1 --out x.state
printf '{"arm":0,"pmf":[0.5,0.5],"x":[[1,2],[3,4]],"r":1}\n{"arm":0,"pmf":[0.5,0.5],"x":[[1],[2]],"r":1}\n' >dims.jsonl
for command in "evaluate --policy logged" effects; do
    expect_error 2 "dims.jsonl, line 2: contexts have 1 features, and those before had 2" "$gbose" ${command%% *} dims.jsonl $(sed 's/^[a-z]*//' <<<"$command")
done
sed 's/"r":[^,}]*/"r":1e99/' a.jsonl >huge.jsonl
expect_error 2 "there is no decision; the first broken line: huge.jsonl, line 1: the reward is 1e+99: it must be within" "$gbose" log check huge.jsonl
printf 'unit,action,probability,outcome\na,1,0.5,2\nb,0,0.5,1\n' >two.csv
"$gbose" effects two.csv --wcls | grep -q "cannot tell about treatment: there are too few participants" || fail "a trial of two"
