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
grep -q "bad.jsonl, line 3: user.tenure must be a number; got 'long'" said || fail "$(cat said)"
grep -q "bad.jsonl, line 5: 'actions' must be a list, not a number" said || fail "$(cat said)"
grep -q "2 rounds do not fit" said || fail "$(cat said)"
expect_error 2 "unknown option '--schema'" "$gbose" schema fit nothing.jsonl --schema one.schema

printf 'action.price number\narm = pric\n' >wrong.schema
expect_error 2 "wrong.schema: line 2: unknown feature 'pric'; did you mean 'price'?" "$gbose" schema check wrong.schema
expect_error 2 "wrong.schema: line 2" "$gbose" schema columns wrong.schema
printf 'action.a number\0\narm = a\n' >wrong.schema
expect_error 2 "zero byte" "$gbose" schema check wrong.schema
expect_error 2 "cannot read nowhere" "$gbose" schema check news.schema nowhere
expect_error 2 "cannot read nowhere" "$gbose" schema check nowhere
expect_error 2 "cannot read nowhere" "$gbose" schema fit nowhere
expect_error 2 "there is no round to propose a schema from" "$gbose" schema fit /dev/null
expect_error 2 "what to do is missing" "$gbose" schema
expect_error 2 "there is no 'schema chek'" "$gbose" schema chek news.schema
expect_error 2 "needs a file" "$gbose" schema fit
expect_error 2 "unexpected 'log.csv'" "$gbose" schema columns news.schema log.csv
expect_error 2 "line 5: 'actions' must be a list" "$gbose" schema fit bad.jsonl

# every format that other commands read: dsjson, a table with a row for each decision, the Open Bandit Dataset
python3 - <<'END'
import json
with open("a.dsjson", "w") as log, open("wide.csv", "w") as wide, open("obd.csv", "w") as obd:
    print("arm,probability,reward,user.age", file=wide)
    print(",timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0,user-item_affinity_1", file=obd)
    for t in range(40):
        print(json.dumps({"_label_cost": -1, "_label_probability": 0.5, "_label_Action": 1, "_labelIndex": 0, "EventId": str(t), "a": [1, 2],
                          "p": [0.5, 0.5], "c": {"User": [{"age": t}], "_multi": [{"A": {"price": t % 5}}, {"A": {"price": t % 7}}]}}), file=log)
        print(f"{'ab'[t % 2]},0.5,{t % 3},{t}", file=wide)
        print(f"{t},2020,{t % 2},1,{t % 3 == 0:d},0.5,{'xyz'[t % 3]},{t % 4},{t % 5}", file=obd)
END
"$gbose" schema fit a.dsjson >said
grep -q "^action.A.price number" said && grep -q "^User.age number" said || fail "fit of dsjson: $(cat said)"
"$gbose" schema fit wide.csv >said
grep -q "^action.id category a, b" said && grep -q "^user.age number" said || fail "fit of a wide table: $(cat said)"
"$gbose" schema fit obd.csv --format obd >obd.schema
grep -q "^user.feature_0 category" obd.schema && grep -q "^action.affinity number" obd.schema && grep -q "^action.id category" obd.schema ||
    fail "fit of the Open Bandit Dataset: $(cat obd.schema)"
"$gbose" schema check obd.schema obd.csv --format obd | grep -q "40 rounds" || fail "check of the Open Bandit Dataset"
echo "a,b" >plain.csv
expect_error 2 "no column is a feature" "$gbose" schema fit plain.csv

# logs carry the hash of the schema that made them; another schema's are refused, a grown one's are not
cat >one.schema <<'END'
action.price number scale=10
user.age number scale=20
arm = price price*age
END
sed 's/^arm = .*/arm = price price*age price*price/' one.schema >more.schema
sed 's/^arm = .*/arm = price price*price/' one.schema >other.schema
python3 - <<'END'
import json, random
random.seed(4)
with open("named.jsonl", "w") as log:
    for t in range(400):
        prices, arm = [random.random() * 10 for _ in range(3)], random.randrange(3)
        print(json.dumps({"id": str(t), "arm": arm, "pmf": [1 / 3] * 3, "r": 0.1 * prices[arm] + random.gauss(0, 1), "user": {"age": 20 + t % 50},
                          "actions": [{"price": price} for price in prices]}), file=log)
END
"$gbose" log convert named.jsonl --schema one.schema --out one.jsonl
hash=$("$gbose" schema check one.schema | sed -n '1s/.*hash //p')
grep -q "\"schema\":\"$hash\"" one.jsonl || fail "a converted log does not carry the hash $hash: $(head -1 one.jsonl)"
"$gbose" learn one.jsonl --learner gbose --schema one.schema --out one.state >/dev/null
"$gbose" learn named.jsonl --learner gbose --schema one.schema --out same.state >/dev/null
cmp one.state same.state || fail "contexts and features by name teach different things"
expect_error 2 "one.jsonl, line 1: it was made by the schema $hash" "$gbose" learn one.jsonl --learner gbose --out x.state --schema other.schema
expect_error 2 "one.jsonl, line 1: it was made by the schema $hash" "$gbose" evaluate one.jsonl --policy logged --learner gbose --schema other.schema
expect_error 2 "one.jsonl, line 1: it was made by the schema $hash" "$gbose" effects one.jsonl --schema other.schema
[[ ! -e x.state ]] || fail "a refused log left a state"
"$gbose" learn one.jsonl --any-schema --learner gbose --schema other.schema --out x.state >/dev/null || fail "--any-schema"
"$gbose" learn one.jsonl --learner gbose --schema more.schema --out x.state | grep -q "with 7 features" || fail "a grown schema was refused"
# and so do states
expect_error 2 "only appends terms" "$gbose" learn named.jsonl --from one.state --schema other.schema --out x.state
expect_error 2 "'greedy:one.state' was made for the schema $hash" "$gbose" evaluate named.jsonl --policy logged greedy:one.state --schema other.schema
expect_error 2 "'state:one.state' was made for the schema $hash" "$gbose" evaluate named.jsonl --policy logged state:one.state --schema other.schema
"$gbose" learn named.jsonl --from one.state --schema more.schema --out grown.state | grep -q "with 7 features has learned 800" || fail "a state does not grow"
"$gbose" log convert named.jsonl --schema other.schema --out other.jsonl
{ head -5 one.jsonl && head -5 other.jsonl; } >mixed.jsonl
expect_error 2 "mixed.jsonl, line 6: its contexts were made by the schema" "$gbose" learn mixed.jsonl --learner gbose --out x.state

# a table with a row for each arm holds contexts and the hash as well
"$gbose" log convert one.jsonl --to csv --out one.csv
"$gbose" learn one.csv --learner gbose --schema one.schema --out csv.state >/dev/null
cmp one.state csv.state || fail "a table with contexts teaches something else"
expect_error 2 "made by the schema $hash" "$gbose" learn one.csv --learner gbose --schema other.schema --out x.state

# effects by the names of columns; values of a category are told against the first one
cat >topics.schema <<'END'
action.price number scale=10 missing=off
action.topic category news, sports, travel missing=off
arm = price 1*topic
END
python3 - <<'END'
import json, random
random.seed(5)
worth = {"news": 0, "sports": 1, "travel": 3}
with open("topics.jsonl", "w") as log:
    for t in range(2000):
        actions, arm = [{"price": 10 * random.random(), "topic": random.choice(list(worth))} for _ in range(3)], random.randrange(3)
        r = worth[actions[arm]["topic"]] - 0.2 * actions[arm]["price"] + random.gauss(0, 0.5) + t % 7
        print(json.dumps({"arm": arm, "pmf": [1 / 3] * 3, "r": r, "actions": actions}), file=log)
END
"$gbose" effects topics.jsonl --schema topics.schema >said
grep -q "^action.price lowers the reward by [12]\.[0-9]* for each 10 of action.price \[" said || fail "effects by name: $(cat said)"
grep -q "^action.topic=travel less action.topic=news raises the reward by [23]\." said || fail "effects of a category: $(cat said)"
grep -q "cannot tell about action.topic=other: chance never chose" said || fail "what cannot be told: $(cat said)"
! grep -q "^action.topic=news " said || fail "the first value is told against itself: $(cat said)"
"$gbose" effects topics.jsonl --schema topics.schema --x action.price "action.topic=travel less action.topic=sports" >said
grep -q "^action.topic=travel less action.topic=sports raises the reward by [12]\." said || fail "--x by names: $(cat said)"
expect_error 2 "must be the name of a column" "$gbose" effects topics.jsonl --schema topics.schema --x action.prise

# moderators are features by name
"$gbose" effects topics.jsonl --schema topics.schema --x action.price --by user.device >said 2>&1 && fail "--by a feature that is not there: $(cat said)"
sed 's/"actions"/"user": {"device": "ios", "age": 7}, "actions"/' topics.jsonl | sed '1~2s/ios/web/' >moderated.jsonl
"$gbose" effects moderated.jsonl --schema topics.schema --x action.price --by user.device >said
grep -q "^action.price, user.device=web lowers" said && grep -q "^action.price, user.device=ios lowers" said || fail "--by user.device: $(cat said)"
"$gbose" evaluate moderated.jsonl --policy logged uniform --by user.age --range -20,20 | grep -q "^7 " || fail "--by user.age"

# a schema with topic and topic*device: what a topic adds for a device is both together
cat >both.schema <<'END'
action.price number scale=10 missing=off
action.topic category news, sports, travel missing=off
user.device category ios, web missing=off other=off
arm = price 1*topic topic*device
END
"$gbose" effects moderated.jsonl --schema both.schema >said
grep -q "^action.topic=travel\*user.device=ios less action.topic=news\*user.device=ios, with parts raises the reward by [23]\." said ||
    fail "a product with its parts: $(cat said)"
grep -q "cannot tell about action.topic=news, action.topic=sports" said || fail "parts of a product alone: $(cat said)"
