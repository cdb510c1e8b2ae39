#!/usr/bin/env bash
# gbose schema: check, columns and fit, on a log as JSON lines and as CSV.
source "$(dirname "$0")/lib.sh"

cat >news.schema <<'END'
action.price    number    scale=10
action.cents    number    scale=1000 missing=off
action.topic    category  sports, politics, travel
action.tags     set       hash=4
user.device     category  ios, android
user.tenure     number    scale=0.001
time.hour       cycle     24
user.spare      flag
arm   = 1*topic  price  cents  tags  topic*device
round = hour  tenure
END
python3 - <<'END'
import csv, json
rows, fields = [], ["id", "action.price", "action.cents", "action.topic", "action.tags", "user.device", "user.tenure", "time.hour"]
with open("log.jsonl", "w") as log:
    for t in range(200):
        user = {"device": ["ios", "android"][t % 2], "tenure": 3.5 * (t % 41)}
        if t % 10 == 0:
            del user["device"]
        actions = [{"price": (7 * t + 5 * a) % 31 + 0.25, "cents": 100 * ((7 * t + 5 * a) % 31 + 0.25),
                    "topic": ["sports", "politics", "cooking"][(t + a) % 3], "tags": [f"tag{(t * a) % 9}", "all"]}
                   for a in range(4)]
        print(json.dumps({"id": t, "arm": 0, "r": 1, "user": user, "time": {"hour": t % 24}, "actions": actions}), file=log)
        for action in actions:
            rows.append([t, action["price"], action["cents"], action["topic"], "|".join(action["tags"]),
                         user.get("device", ""), user["tenure"], t % 24])
with open("log.csv", "w", newline="") as log:
    csv.writer(log).writerows([fields] + rows)
END
gzip -k log.jsonl

"$gbose" schema columns news.schema >columns
[[ $(head -1 columns) == "arm    0  action.topic=sports" ]] || fail "columns: $(head -1 columns)"
[[ $(tail -1 columns) == "round  4  user.tenure=missing" ]] || fail "columns: $(tail -1 columns)"

"$gbose" schema check news.schema >said
grep -q "news.schema: 32 columns for an arm, 5 for the round; hash [0-9a-f]*" said || fail "check: $(cat said)"
grep -q "unused  *user.spare, on line 8" said || fail "unused: $(cat said)"

"$gbose" schema check news.schema log.jsonl >said
for words in "200 rounds, 800 arms" "missing  *user.device in 10% of the rounds" "never seen  *action.topic: travel" \
    "other  *action.topic: 266 values are not listed; 'cooking'" "collision  *action.tags: 6 of 10 values" \
    "scale  *user.tenure: its deviation is 4.1e+04 after scale=0.001; scale=41 would" \
    "collinear  *action.cents is determined by action.price" "empty .*action.topic=travel"; do
    grep -q "$words" said || fail "check does not say '$words': $(cat said)"
done
tail -n +2 said | grep -v log.jsonl >from_json
for log in log.csv log.jsonl.gz; do
    "$gbose" schema check news.schema $log | tail -n +2 | grep -v "^$log" >from_other
    cmp -s from_json from_other || fail "$log: $(diff from_json from_other)"
done

# what is proposed is a schema, fits the log, and is the same from both formats
"$gbose" schema fit log.jsonl >fitted.schema
"$gbose" schema check fitted.schema log.jsonl >said || fail "fit: $(cat said)"
for words in "action.price number scale=8.9 offset=15.2 missing=off" "action.topic category politics, sports, cooking missing=off" \
    "time.hour cycle 24 missing=off" "^user.device category android, ios$" "^round = user.tenure time.hour user.device$"; do
    grep -q -- "$words" fitted.schema || fail "fit does not say '$words': $(cat fitted.schema)"
done
diff <(sort fitted.schema) <("$gbose" schema fit log.csv | sort) >differences || true
! grep -q "scale\|category" differences || fail "fit of CSV: $(cat differences)"

# rounds that do not fit
sed -e '3s/"tenure": [0-9.]*/"tenure": "long"/' -e '5s/.*/{"actions": 3}/' log.jsonl >bad.jsonl
code=0
"$gbose" schema check news.schema bad.jsonl >said || code=$?
[[ $code == 1 ]] || fail "exit code $code for a log that does not fit"
grep -q "round 3: user.tenure must be a number; got 'long'" said || fail "$(cat said)"
grep -q "bad.jsonl, line 5: 'actions' must be a list, not a number" said || fail "$(cat said)"
grep -q "2 rounds do not fit" said || fail "$(cat said)"

printf 'action.price number\narm = pric\n' >wrong.schema
expect_error 2 "wrong.schema: line 2: unknown feature 'pric'; did you mean 'price'?" "$gbose" schema check wrong.schema
expect_error 2 "wrong.schema: line 2" "$gbose" schema columns wrong.schema
printf 'action.a number\0\narm = a\n' >wrong.schema
expect_error 2 "zero byte" "$gbose" schema check wrong.schema
expect_error 2 "cannot read nowhere" "$gbose" schema check news.schema nowhere
expect_error 2 "cannot read nowhere" "$gbose" schema check nowhere
expect_error 2 "cannot read nowhere" "$gbose" schema fit nowhere
expect_error 2 "nothing to choose by" "$gbose" schema fit /dev/null
expect_error 2 "what to do is missing" "$gbose" schema
expect_error 2 "there is no 'schema chek'" "$gbose" schema chek news.schema
expect_error 2 "needs a file" "$gbose" schema fit
expect_error 2 "unexpected 'log.csv'" "$gbose" schema columns news.schema log.csv
expect_error 2 "line 5: 'actions' must be a list" "$gbose" schema fit bad.jsonl
