#!/usr/bin/env bash
# gbose log convert: nothing is changed, made up or left out in silence.
source "$(dirname "$0")/lib.sh"

# Arms in another order: probabilities go by their ids.
cat >order.jsonl <<'END'
{"arms":["a","b"],"arm":0,"pmf":[0.3,0.7],"r":1}
{"arms":["b","a"],"arm":0,"pmf":[0.2,0.8],"r":2}
END
"$gbose" log convert order.jsonl --to csv --out order.csv
[[ $(tail -1 order.csv) == "1,,,,b,2,0.8,0.2" ]] || fail "arms in another order: $(cat order.csv)"
echo '{"arms":["a","c"],"arm":0,"pmf":[0.2,0.8],"r":2}' >>order.jsonl
expect_error 2 "order.jsonl, line 3: its arms are not those of the first decision" "$gbose" log convert order.jsonl --to csv --out x.csv
[[ ! -e x.csv ]] || fail "a refused conversion left a file"

# Probabilities that were rounded when they were written add up to 1 again.
echo '{"arm":0,"pmf":[0.3333334,0.6666667],"r":1}' >rounded.jsonl
"$gbose" log convert rounded.jsonl | python3 -c 'import json, sys; p = json.load(sys.stdin)["pmf"]; sys.exit(abs(sum(p) - 1) > 1e-15 or abs(p[0] - 0.3333334 / 1.0000001) > 1e-15)' ||
    fail "rounded probabilities: $("$gbose" log convert rounded.jsonl)"

# One probability or all: a table has one of both, and dsjson makes nothing up.
cat >mixed.jsonl <<'END'
{"arms":["a","b"],"arm":0,"p":0.25,"r":1,"drop":0.5}
{"arms":["a","b"],"arm":1,"pmf":[0.3,0.7],"r":0,"drop":0.5}
END
expect_error 2 "line 2: some decisions have the probabilities of all arms and some have not" "$gbose" log convert mixed.jsonl --to csv --out x.csv
"$gbose" log convert mixed.jsonl --to dsjson --out mixed.dsjson
head -1 mixed.dsjson | grep -q '"_label_probability":0.125,' || fail "pdrop is not in the label: $(head -1 mixed.dsjson)"
! head -1 mixed.dsjson | grep -q '"p":' || fail "probabilities were made up: $(head -1 mixed.dsjson)"
"$gbose" log convert mixed.dsjson --out back.jsonl
head -1 back.jsonl | grep -q '"arm":0,"p":0.25,"n_arms":2,' || fail "dsjson, one probability: $(head -1 back.jsonl)"
tail -1 back.jsonl | grep -q '"arm":1,"pmf":\[0.3,0.7\],' || fail "dsjson, all probabilities: $(tail -1 back.jsonl)"
echo '{"_label_cost":0,"_label_probability":0.5,"_label_Action":0,"c":{"_multi":[{"id":"a"},{"id":"b"}]}}' >zero.dsjson
expect_error 2 "'_label_Action' must be from 1 to 2" "$gbose" log check zero.dsjson

# Features by name, values to group by: all of them in every format, or it says what has no place.
cat >full.jsonl <<'END'
{"id":"e1","t":"2026-01-01","unit":"u1","user":{"device":"ios","address":{"city":"Köln, Süd"}},"actions":[{"id":"a","price":1.5,"tags":["new","red"]},{"id":"b","price":2}],"arm":0,"pmf":[0.3,0.7],"r":1,"country":"de","campaign":7}
{"id":"e2","t":"2026-01-02","unit":"u2","user":{"device":"web"},"actions":[{"id":"a","price":1.1},{"id":"b","price":2.25}],"arm":1,"pmf":[0.3,0.7],"r":null}
END
cat >full.schema <<'END'
action.price number
action.tags set new, red, blue
user.device category ios, web
user.address.city category "Köln, Süd", Bonn
arm = price tags price*device price*city
round = device
END
"$gbose" log convert full.jsonl --to csv --out full.csv 2>said
[[ ! -s said ]] || fail "it says: $(cat said)"
cat >expected.csv <<'END'
id,t,unit,schema,arm,played,probability,reward,user.device,user.address.city,country,campaign,action.id,action.price,action.tags
e1,2026-01-01,u1,,a,1,0.3,1,ios,"Köln, Süd",de,7,a,1.5,new|red
e1,2026-01-01,u1,,b,0,0.7,,ios,"Köln, Süd",de,7,b,2,
e2,2026-01-02,u2,,a,0,0.3,,web,,,,a,1.1,
e2,2026-01-02,u2,,b,1,0.7,,web,,,,b,2.25,
END
cmp full.csv expected.csv || fail "features in a table: $(diff full.csv expected.csv)"
"$gbose" log convert full.jsonl --to dsjson --out full.dsjson 2>said
grep -q "left out: 'unit', values to group by$" said || fail "dsjson says: $(cat said)"
for log in full.jsonl full.csv full.dsjson; do
    "$gbose" log convert $log --schema full.schema | grep -o '"x":.*\]\],"round":\[[^]]*\]' >$log.x
    [[ $(wc -l <$log.x) == 2 ]] && cmp $log.x full.jsonl.x || fail "$log has other contexts"
done
"$gbose" log convert full.jsonl --out again.jsonl
"$gbose" log convert again.jsonl | cmp - again.jsonl || fail "a second time changes the log"
[[ $(grep -o '"country"' again.jsonl | wc -l) == 1 && $(grep -o '"campaign":7' again.jsonl | wc -l) == 1 ]] || fail "a value is written twice: $(cat again.jsonl)"
sed -i '2s/"device":"web"/"device":"web","age":7/' full.jsonl
expect_error 2 "full.jsonl, line 2: it has 'user.age', and the first decision had not" "$gbose" log convert full.jsonl --to csv --out x.csv

echo '{"bandit":"n","arm":0,"pmf":[1],"round":[1,2],"r":1,"policies":{"q":[1]},"drop":0.5,"why":"reward"}' >rich.jsonl
"$gbose" log convert rich.jsonl --to csv --out x.csv 2>said
grep -q "left out: 'bandit', 'round', 'why', 'drop', 'policies'$" said || fail "a CSV says: $(cat said)"
"$gbose" log convert rich.jsonl 2>said | grep -q '"policies":{"q":\[1\]}' && [[ ! -s said ]] || fail "json says: $(cat said)"
