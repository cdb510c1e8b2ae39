import json
import subprocess
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np
import pytest

import gbose


def made(n=2500, seed=0, floor=0.3):
    """A log of a world with a moving level, made by a bandit, and the truth about uniform and greedy play."""
    world = gbose.World("gallery:shift=season,arms=4,dim=3", seed=5)
    bandit = gbose.Bandit(f"gbose-auto:floor={floor}", dim=3, seed=seed + 1)
    rows = []
    for t in range(n):
        contexts = np.array(world.next().contexts)
        decision = bandit.decide(contexts)
        reward = world.play(decision.arm)[0]
        bandit.learn(decision.ticket, reward)
        rows.append({"id": str(t), "arm": decision.arm, "pmf": list(decision.pmf), "x": contexts.tolist(), "r": reward, "unit": str(t % 50)})
    return rows, bandit


@pytest.fixture(scope="module")
def log():
    return made()


def test_policies_of_all_kinds(log):
    rows, bandit = log
    def best(row):
        assert "r" not in row and "arm" not in row  # it cannot peek
        return np.eye(4)[np.argmax(np.array(row["x"]) @ bandit.coef)]
    result = gbose.evaluate(rows, ["uniform", "logged", "arm=2", bandit, best], ["gbose"], range=(-9, 9))
    assert result.rounds == 2500 and result.missing == 0
    for name in ("logged", bandit.spec, "best", "gbose"):
        assert result.differences[name].lower > 0, name
    assert "best is better than uniform by" in str(result)
    assert "valid at any time unless it learned from this log" in [line for line in str(result).split("\n") if line.startswith(bandit.spec)][0]
    assert result.audit.p > 0.001
    frame = result.frame()
    assert list(frame.index) == ["uniform", "logged", "arm=2", bandit.spec, "best", "gbose"]
    assert frame.loc["uniform", "supported"] == pytest.approx(1)
    assert frame.loc["logged", "effective"] == pytest.approx(2500)
    ax = result.plot(plt.subplots()[1])
    assert len(ax.lines) == 6


def test_same_numbers_as_the_command(log, tmp_path):
    rows, _ = log
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = gbose.evaluate(path, ["logged", "uniform"], range=(-9, 9)).frame()
    command = os.environ.get("GBOSE")
    if not command:
        pytest.skip("GBOSE is not set")
    subprocess.run([command, "evaluate", path, "--policy", "logged", "uniform", "--range", "-9,9", "--out", tmp_path / "out"], check=True, capture_output=True)
    import pandas as pd

    other = pd.read_csv(tmp_path / "out" / "policies.csv").set_index("policy")
    for column in ("difference", "difference_lower", "ips", "dr", "sndr", "cressie_read", "level_lower", "effective"):
        np.testing.assert_allclose(result[column], other[column], rtol=1e-12)


def test_effects(log):
    rows, bandit = log
    found = gbose.effects(rows)
    assert [row["effect"] for row in found] == ["x0", "x1", "x2"]
    for i, row in enumerate(found):
        assert row["anytime_lower"] < row["lower"] < row["estimate"] < row["upper"] < row["anytime_upper"]
        assert row["anytime_lower"] < bandit.coef[i] < row["anytime_upper"]
        live = bandit.effect(np.eye(3)[i])
        assert live.lower < row["estimate"] < live.upper
    clustered = gbose.effects(rows, {"contrast": [1, -1, 0]}, unit=True)
    assert clustered[0]["units"] == 50
    assert clustered[0]["estimate"] == pytest.approx(found[0]["estimate"] - found[1]["estimate"])
    assert found.frame().shape == (3, 8)
    assert len(found.plot(plt.subplots()[1]).lines) == 10


def test_what_is_wrong_is_said(log, tmp_path):
    rows, _ = log
    with pytest.raises(gbose.Error, match="row 0: 'arm'"):
        gbose.evaluate([{"r": 1}])
    with pytest.raises(gbose.Error, match="no row with a reward"):
        gbose.evaluate([{"arm": 0, "pmf": [1.0], "r": None}])
    with pytest.raises(gbose.Error, match="row 0.*add up to 1.1"):
        gbose.evaluate([{"arm": 0, "pmf": [0.5, 0.6], "r": 1}])
    with pytest.raises(gbose.Error, match="unknown policy"):
        gbose.evaluate(rows, ["unifrom"])
    with pytest.raises(gbose.Error, match="mine gives probabilities of the shape"):
        gbose.evaluate(rows, [("mine", lambda row: [1.0])])
    path = tmp_path / "bad.jsonl"
    path.write_text('{"arm":0,"pmf":[1],"r":1}\n{"arm"\n')
    with pytest.raises(gbose.Error, match="bad.jsonl, line 2"):
        gbose.evaluate(path)
    with pytest.raises(gbose.Error) as error:
        gbose.Bandit("gbose", dim=2, seed=1).effect([1, 0])
    assert error.value.name == "ELEARNER"


def test_a_lying_log_is_caught(log):
    rows, _ = log
    lies = [{**row, "pmf": [0.25] * 4} for row in rows]
    assert "propensities: arms were not drawn as logged" in str(gbose.evaluate(lies))


# ---- features by name, and other formats ----

SCHEMA = "action.price number scale=2 missing=off\naction.id category a, b, c missing=off other=off\nuser.age number missing=off\n" \
         "arm = price id price*age\nround = age\n"


NAMES = ["action.price", "action.id=b less action.id=a", "action.id=c less action.id=a", "action.price*user.age"]


@pytest.fixture(scope="module")
def named():
    """The same decisions with features by name, as rows of arms, and with contexts; and the schema."""
    rng, schema = np.random.default_rng(3), gbose.Schema(SCHEMA)
    rows, table, encoded = [], [], []
    for t in range(1500):
        age, arm = float(rng.normal()), int(rng.integers(3))
        actions = [{"id": i, "price": float(p)} for i, p in zip("abc", rng.uniform(0, 2, 3))]
        r = 0.4 * actions[arm]["price"] + np.sin(t / 50) + float(rng.normal(scale=0.3))
        rows.append({"id": t, "arm": arm, "arms": ["a", "b", "c"], "pmf": [1 / 3] * 3, "r": r, "user": {"age": age}, "actions": actions})
        for i, action in enumerate(actions):
            table.append({"id": t, "user.age": age, "action.id": action["id"], "action.price": action["price"], "played": int(i == arm),
                          "probability": 1 / 3, "reward": r if i == arm else None})
        x, features = schema.encode(actions, user={"age": age})
        encoded.append({**{k: rows[-1][k] for k in ("id", "arm", "arms", "pmf", "r")}, "x": x, "round": features, "schema": f"{schema.hash:016x}"})
    return rows, table, encoded, schema


def test_formats_give_the_same_numbers(named, tmp_path):
    import pandas as pd

    rows, table, encoded, schema = named
    frame = pd.DataFrame(table)
    frame.to_csv(tmp_path / "log.csv.gz", index=False)
    dsjson = tmp_path / "log.dsjson"
    with open(dsjson, "w") as file:
        for row in rows:
            order = [row["arm"], *(a for a in range(3) if a != row["arm"])]
            context = {"user": [row["user"]], "_multi": [{"id": a["id"], "_tag": "?", "j": 1, "price": a["price"]} for a in row["actions"]]}
            print(json.dumps({"_label_cost": -row["r"], "_label_probability": 1 / 3, "EventId": str(row["id"]), "a": [a + 1 for a in order],
                              "p": [1 / 3] * 3, "c": context}), file=file)
    want = gbose.evaluate(encoded, ["uniform", "arm=b"], ["gbose-auto:round=1"], range=(-9, 9)).frame().to_numpy()
    for log in (rows, frame, tmp_path / "log.csv.gz", dsjson):
        got = gbose.evaluate(log, ["uniform", "arm=b"], ["gbose-auto"], range=(-9, 9), schema=schema).frame().to_numpy()
        np.testing.assert_array_equal(got, want)
    found = gbose.effects(frame, schema=schema)
    assert [row["effect"] for row in found] == NAMES and not found.unknown
    assert found["action.price"]["anytime_lower"] < 0.8 < found["action.price"]["anytime_upper"]
    assert found["action.id=b less action.id=a"]["lower"] < 0 < found["action.id=b less action.id=a"]["upper"]
    same = gbose.effects([{**row, "actions": [{**a, "id": "a"} for a in row["actions"]]} for row in rows], schema=schema)
    assert same.unknown == ["action.id=a", "action.id=b", "action.id=c"] and "Chance never chose" in str(same)
    with pytest.raises(KeyError, match="chance never chose"):
        same["action.id=a"]
    both = gbose.Schema("action.id category a, b, c missing=off other=off\nuser.old category no, yes missing=off other=off\narm = id id*old\n")
    parts = gbose.effects([{**row, "user": {"old": "yes" if row["user"]["age"] > 0 else "no"}} for row in rows], schema=both)
    assert [row["effect"] for row in parts] == [
        f"action.id={i}*user.old={old} less action.id=a*user.old={old}, with parts" for i in "bc" for old in ("no", "yes")]
    assert parts.unknown == ["action.id=a", "action.id=b", "action.id=c"]


def test_wide_tables(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(5)
    wide = pd.DataFrame({"arm": rng.choice(["a", "b"], 800), "p:a": 0.5, "p:b": 0.5, "x:age": rng.normal(size=800)})
    wide["reward"] = (wide["arm"] == "b") * 0.5 + rng.normal(scale=0.1, size=800)
    assert [row["effect"] for row in gbose.effects(wide)] == ["b", "b*age"]
    assert gbose.effects(wide)["b"]["lower"] < 0.5 < gbose.effects(wide)["b"]["upper"]
    path = tmp_path / "wide.csv"
    wide.to_csv(path, index=False)
    assert gbose.effects(path)["b"] == gbose.effects(wide)["b"]
    command = os.environ.get("GBOSE")
    if command:
        subprocess.run([command, "effects", path, "--out", tmp_path / "out"], check=True, capture_output=True)
        other = pd.read_csv(tmp_path / "out" / "effects.csv")
        assert other.iloc[0, 1] == pytest.approx(gbose.effects(path)["b"]["estimate"], rel=1e-9) and list(other["effect"]) == ["b", "b*age"]
    partial = wide.drop(columns=["p:a", "p:b"]).assign(probability=0.5)
    assert gbose.evaluate(partial, ["logged", "arm=b"], range=(-2, 2), arms=["a", "b"]).differences["arm=b"].lower > 0
    # How many arms there are is what a uniform policy is about: it is asked for, and not what the rows so far had.
    numbered = partial.assign(arm=(partial["arm"] == "b") * 2)
    assert gbose.evaluate(numbered, ["logged", "uniform"], arms=4).policies["uniform"]["ips"] == pytest.approx(partial["reward"].mean() / 2)
    assert gbose.evaluate(numbered.astype({"arm": float}), arms=[0, 1, 2]).rounds == 800  # a frame makes 2.0 of 2
    for arms, says in ((None, "the frame: only the played arm's probability is there; to evaluate, say which arms"),
                       (["a"], "is not among the 1 of arms"), (["a", "b", "a"], "named twice")):
        with pytest.raises(gbose.Error, match=says):
            gbose.evaluate(partial, arms=arms)
    with pytest.raises(gbose.Error, match="effects need those of all arms"):
        gbose.effects(partial)
    both = gbose.evaluate(wide.assign(probability=0.5), ["logged", "arm=b"], range=(-2, 2))  # all probabilities say more than one
    assert both.differences == gbose.evaluate(wide, ["logged", "arm=b"], range=(-2, 2)).differences
    with pytest.raises(gbose.Error, match="there is no column 'probability'; there are arm, x:age, reward"):
        gbose.evaluate(wide.drop(columns=["p:a", "p:b"]))
    with pytest.raises(gbose.Error, match="row 0: arm 'c' has no column"):
        gbose.evaluate(wide.assign(arm="c"))


def test_rows_of_another_schema_are_refused(named):
    rows, _, encoded, schema = named
    more = gbose.Schema(SCHEMA.replace("\nround", " price*price\nround"))
    other = gbose.Schema(SCHEMA.replace("price*age", "id*age"))
    carrying = [{**row, "schema": f"{schema.hash:016x}"} for row in rows]
    assert more.before(schema.hash) == schema
    assert gbose.evaluate(carrying, schema=schema).rounds == gbose.evaluate(carrying, schema=more).rounds == 1500
    for log in (carrying, encoded):
        for call in (gbose.evaluate, gbose.effects):
            with pytest.raises(gbose.Error, match=f"row 0: it was made by the schema {schema.hash:016x}, and the one given is"):
                call(log, schema=other)
    with pytest.raises(gbose.Error, match="16 hexadecimal digits"):
        gbose.evaluate([{**rows[0], "schema": "7"}], schema=schema)
    with pytest.raises(gbose.Error, match="only appends terms"):
        schema.before(more.hash)


def test_effects_of_a_bandit_have_names(named):
    rows, _, _, schema = named
    bandit = gbose.Bandit("gbose-auto", schema=schema, seed=1)
    for row in rows:
        bandit.learn(bandit.ticket_for(pmf=row["pmf"], arm=row["arm"], actions=row["actions"], user=row["user"]), row["r"])
    effects = bandit.effects()
    assert [row["effect"] for row in effects] == NAMES and not effects.unknown
    price = effects["action.price"]
    assert price["anytime_lower"] < 0.8 < price["anytime_upper"]  # scale=2
    assert tuple(list(price.values())[1:]) == (*bandit.effect(np.eye(schema.dim)[0]), "2 of action.price")
    assert bandit.coef["action.price"] == pytest.approx(price["estimate"], abs=0.05)
    assert list(effects.frame().columns) == ["estimate", "anytime_lower", "anytime_upper", "for_each"]
    assert len(effects.plot(plt.subplots()[1]).lines) == 2 * len(effects) + 1
    assert "action.price" in str(effects) and "<td>action.price</td>" in effects._repr_html_()
    assert [row["effect"] for row in bandit.effects(["action.price"], level=0.5)] == ["action.price"]
    contrast = bandit.effects({"a to b": np.eye(schema.dim)[2] - np.eye(schema.dim)[1]})
    assert contrast["a to b"]["anytime_lower"] < 0 < contrast["a to b"]["anytime_upper"]
    with pytest.raises(gbose.Error, match="there is no column 'price'"):
        bandit.effects(["price"])
    with pytest.raises(gbose.Error) as error:
        gbose.Bandit("gbose", dim=2, seed=1).effects()
    assert error.value.name == "ELEARNER"


@pytest.mark.parametrize("change, says", [
    ({"arm": 1.5}, "row 3: 'arm' \\(an index\\)"), ({"arm": "b"}, "row 3: 'arm'"), ({"arm": 2}, "'arm' is 2"),
    ({"arms": ["a"]}, "row 3: 'arms' has 1 entries, and there are probabilities of 2 arms"), ({"r": "much"}, "the reward must be a number; got 'much'"),
    ({"x": [[1.0, 2.0], [1.0]]}, "row 3: 'x' must be a row of numbers for each arm"), ({"v": 2}, "row 3: 'v' must be 1"),
    ({"drop": 0.5}, "row 3: it was kept with probability 0.5 and others with 1"), ({"drop": 0}, "'drop' is 0"),
    ({"pmf": None, "p": 0.5}, "only the played arm's probability is logged, and before it"), ({"pmf": None}, "there is neither 'pmf' nor 'p'"),
    ({"pmf": None, "p": 2}, "'p' is 2"), ({"pmf": [0.7, 0.7]}, "add up to 1.4"), ({"arm": None, "r": None}, "row 3: 'arm'"),
    ({"pmf": None, "p": 0.5, "x": None}, "only the played arm's probability is logged, and before it"),
])
def test_a_wrong_row_is_named(change, says):
    good = {"arm": 1, "pmf": [0.5, 0.5], "arms": ["a", "b"], "x": [[1.0, 2.0], [0.5, 1.0]], "r": 0.5, "unit": "u"}
    wrong = {key: value for key, value in {**good, **change}.items() if value is not None}
    assert gbose.evaluate([good] * 5 + [{**good, "arm": 1.0}]).rounds == 6
    with pytest.raises(gbose.Error, match=says):
        gbose.evaluate([good] * 3 + [wrong])


def test_what_is_asked_is_checked():
    log = [{"arm": t % 2, "pmf": [0.5, 0.5], "x": [[1.0, 0.0], [0.0, 2.0]], "r": 0.1 * (t % 7)} for t in range(100)]
    assert list(gbose.evaluate(log, "uniform", "gbose").policies) == ["uniform", "gbose"]
    for policies, says in (([lambda row: [0.5, 0.5], lambda row: [0.1, 0.9]], "two policies are called '<lambda>'"), (["logged", "logged"], "are called 'logged'"),
                           ([("mine", lambda row: ["a", "b"])], "row 0: mine must give the probabilities of 2 arms"),
                           ([("mine", lambda row: [1.0])], "row 0: mine gives probabilities of the shape")):
        with pytest.raises(gbose.Error, match=says):
            gbose.evaluate(log, policies)
    for call in (gbose.evaluate, gbose.effects):
        with pytest.raises(gbose.Error, match="level must be between 0 and 1, as 0.95; got 95"):
            call(log, level=95)
    with pytest.raises(gbose.Error, match="must have finite numbers"):
        gbose.effects(log, {"a": [np.nan, 1]})
    one, other = (gbose.Schema(f"action.{name} number missing=off\narm = {name}\n") for name in "ab")
    bandit = gbose.Bandit("gbose", schema=one, seed=1)
    named = [{"arm": 0, "pmf": [0.5, 0.5], "actions": [{"a": 1, "b": 2}, {"a": 3, "b": 5}], "r": 1.0}] * 30
    assert gbose.evaluate(named, ["logged", ("mine", bandit)], schema=one).rounds == 30
    made = [{**row, "x": [[2.0], [5.0]], "schema": f"{other.hash:016x}"} for row in named]
    for log, schema in ((named, other), (made, None)):
        with pytest.raises(gbose.Error, match=f"row 0: contexts are of the schema {other.hash:016x}, and mine was made for {one.hash:016x}"):
            gbose.evaluate(log, ["logged", ("mine", bandit)], schema=schema)


def test_dsjson_with_the_labels_probability_alone(tmp_path):
    import pandas as pd

    path = tmp_path / "a.dsjson"
    line = {"_label_cost": -1, "_label_probability": 0.2, "_label_Action": 2, "pdrop": 0.2, "c": {"_multi": [{"id": "a"}, {"id": "b"}]}}
    path.write_text(json.dumps(line) + "\n")
    assert gbose.evaluate(path, ["logged", "arm=b"]).policies["arm=b"]["ips"] == 4  # 1 / 0.25: what was dropped is not counted twice
    command = os.environ.get("GBOSE")
    if command:
        subprocess.run([command, "evaluate", path, "--policy", "logged", "arm=b", "--out", tmp_path], check=True, capture_output=True)
        assert pd.read_csv(tmp_path / "policies.csv")["ips"][1] == 4
    path.write_text(json.dumps({**line, "_label_Action": None}) + "\n")
    with pytest.raises(gbose.Error, match="a.dsjson, line 1: dsjson needs"):
        gbose.evaluate(path)


def test_effects_need_all_that_they_stand_on():
    good = {"arm": 1, "pmf": [0.5, 0.5], "arms": ["a", "b"], "x": [[1.0], [0.5]], "r": 0.5, "unit": "u"}
    for key, says in (("unit", "row 2: there is no 'unit'"), ("x", "row 2: there are no contexts")):
        with pytest.raises(gbose.Error, match=says):
            gbose.effects([good, good, {k: v for k, v in good.items() if k != key}], unit=True)
    with pytest.raises(gbose.Error, match="row 0: only the played arm's probability is logged; effects need those of all arms"):
        gbose.effects([{**{k: v for k, v in good.items() if k != "pmf"}, "p": 0.5}])


def test_broken_files(tmp_path):
    import gzip

    packed = gzip.compress(b'{"arm":0,"pmf":[1],"r":1}\n' * 1000)
    for name, data, says in (("cut.jsonl.gz", packed[:-20], "cut.jsonl.gz: "), ("no.jsonl.gz", b"plain", "no.jsonl.gz: "),
                             ("bin.jsonl", b"\xff\xfe\x00", "bin.jsonl: "), ("list.jsonl", b"[1]\n", "line 1: a line must be an object"),
                             ("empty.jsonl", b"", "no row with a reward"), ("empty.csv", b"", "no column 'arm'"),
                             ("q.csv", b'arm,reward,p:a\n"a"b,1,1\n', "q.csv: "), ("deep.jsonl", b"[" * 100000, "deep.jsonl, line 1: ")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(gbose.Error, match=says):
            gbose.evaluate(tmp_path / name)


# ---- groups and trials ----


def test_groups(named, command, tmp_path):
    """By a feature, a column or a function: each group is what its rows alone would be, and the same as the command's."""
    rows, table, _, schema = named
    rows = [{**row, "user": {**row["user"], "old": row["user"]["age"] > 0}, "day": f"2026-01-0{1 + i // 700}"} for i, row in enumerate(rows)]
    result = gbose.evaluate(rows, ["uniform", "arm=b"], range=(-9, 9), schema=schema, by="user.old")
    alone = gbose.evaluate([row for row in rows if row["user"]["old"]], ["uniform", "arm=b"], range=(-9, 9), schema=schema)
    assert sorted(result.groups) == ["False", "True"] and result.groups["True"].rounds == alone.rounds
    assert result.groups["True"].differences == alone.differences
    by_day = gbose.evaluate(rows, ["uniform", "arm=b"], schema=schema, by="day").groups
    assert list(by_day) == ["2026-01-01", "2026-01-02", "2026-01-03"] and by_day["2026-01-02"].rounds == 700
    assert list(gbose.evaluate(rows, schema=schema, by=lambda row: row["id"] % 2).groups) == ["0", "1"]
    found = gbose.effects(rows, schema=schema, by="user.old")
    same = gbose.effects([row for row in rows if row["user"]["old"]], schema=schema)
    assert found["action.price, user.old=True"]["estimate"] == same["action.price"]["estimate"]
    assert len(found) == 2 * len(same)
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "named.schema").write_text(schema.text)
    subprocess.run([command, "evaluate", path, "--policy", "uniform", "arm=b", "--schema", tmp_path / "named.schema", "--by", "day", "--out", tmp_path / "out"],
                   check=True, capture_output=True)
    import pandas as pd

    groups = pd.read_csv(tmp_path / "out" / "groups.csv").set_index("day")
    for day, group in by_day.items():
        assert groups.loc[day, "rounds"] == group.rounds
        assert groups.loc[day, "difference"] == pytest.approx(group.differences["arm=b"].estimate, rel=1e-12)
        assert groups.loc[day, "lower"] == pytest.approx(group.differences["arm=b"].lower, rel=1e-12)
    frame = pd.DataFrame(table).assign(shop="north")  # other columns of a table may be gone by, and reach functions
    assert list(gbose.evaluate(frame, schema=schema, by="shop").groups) == ["north"]
    gbose.evaluate(frame, [lambda row: [1, 0, 0] if row["shop"] == "north" else [0, 0, 1]], schema=schema)
    for by, says in (("arm", "'arm' came of it"), ("nothing", "no row has a value 'nothing'")):
        with pytest.raises(gbose.Error, match=says):
            gbose.evaluate(rows, schema=schema, by=by)
        with pytest.raises(gbose.Error, match=says):
            gbose.effects(rows, schema=schema, by=by)


def test_effects_say_what_they_are_for_each_of(named):
    rows, _, _, schema = named
    found = gbose.effects(rows, schema=schema)
    assert [row["for_each"] for row in found] == ["2 of action.price", "", "", "2 of action.price times unit of user.age"]
    assert "2 of action.price" in str(found) and "for each" in found._repr_html_()


def test_trials(tmp_path, command):
    """wcls() and the command are the same, from a frame, a file and rows."""
    import pandas as pd

    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"user": np.repeat(np.arange(30), 20), "day": np.tile(np.arange(20), 30), "ok": rng.random(600) < 0.9, "p": 0.4})
    frame["sent"] = (rng.random(600) < 0.4).astype(int)
    frame["steps"] = 3 + frame["sent"] * (0.8 - 0.03 * frame["day"]) + rng.normal(size=600)
    frame["ok"] = frame["ok"].astype(int)
    options = {"unit": "user", "action": "sent", "probability": "p", "outcome": "steps", "available": "ok", "controls": ["day"], "moderators": ["day"]}
    found = gbose.wcls(frame, **options)
    frame.to_csv(tmp_path / "trial.csv", index=False)
    for other in (tmp_path / "trial.csv", frame.to_dict("records")):
        again = gbose.wcls(other, **options)
        assert [row["effect"] for row in again] == ["treatment (moderators 0)", "day"]
        assert again[0]["error"] == pytest.approx(found[0]["error"], rel=1e-12)
    subprocess.run([command, "effects", tmp_path / "trial.csv", "--wcls", "--unit", "user", "--arm", "sent", "--probability", "p", "--reward", "steps",
                    "--available", "ok", "--controls", "day", "--moderators", "day", "--out", tmp_path / "out"], check=True, capture_output=True)
    table = pd.read_csv(tmp_path / "out" / "effects.csv").set_index("effect")
    for row in found:
        for column in ("estimate", "error", "lower", "upper", "rounds", "units"):
            assert table.loc[row["effect"], column] == pytest.approx(row[column], rel=1e-10)
    assert "any time" not in str(found) and len(found.plot(plt.subplots()[1]).lines) == 5
    assert gbose.wcls(frame[frame["user"] < 2], **options).unknown == ["treatment (moderators 0)", "day"]
    for change, says in (({"action": "send"}, "no column 'send'; there are user, day"), ({"action": "day"}, "'day' must be 0 or 1"),
                         ({"probability": "steps"}, "must be between 0 and 1"), ({"level": 2}, "level must be between")):
        with pytest.raises(gbose.Error, match=says):
            gbose.wcls(frame, **{**options, **change})


def test_a_trial_is_a_log_too(tmp_path, command):
    """Its table can be judged and learned from; the frame and the command give the same numbers."""
    import pandas as pd

    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"unit": np.repeat(np.arange(30), 40), "available": (rng.random(1200) < 0.9).astype(int), "probability": rng.choice([0.3, 0.6], 1200)})
    frame["action"] = (rng.random(1200) < frame["probability"]).astype(float)
    frame["outcome"] = 0.5 * frame["action"] + np.sin(np.arange(1200) / 100) + 0.3 * rng.normal(size=1200)
    result = gbose.evaluate(frame, ["logged", "arm=1"], range=(-9, 9))
    assert result.rounds == frame["available"].sum()
    truth = (0.5 * (1 - frame["probability"]))[frame["available"] == 1].mean()
    assert result.differences["arm=1"].lower < truth < result.differences["arm=1"].upper
    effect = gbose.effects(frame, unit=True)["treatment"]
    assert effect["lower"] < 0.5 < effect["upper"] and effect["units"] == 30
    frame.rename(columns={"action": "sent"}).to_csv(tmp_path / "trial.csv", index=False)
    subprocess.run([command, "evaluate", tmp_path / "trial.csv", "--format", "trial", "--arm", "sent", "--policy", "logged", "arm=1", "--range", "-9,9",
                    "--out", tmp_path / "out"], check=True, capture_output=True)
    other = pd.read_csv(tmp_path / "out" / "policies.csv").set_index("policy")
    assert other.loc["arm=1", "difference"] == pytest.approx(result.differences["arm=1"].estimate, rel=1e-12)
    with pytest.raises(gbose.Error, match="row 3: the action is 2: it must be 0 or 1"):
        gbose.evaluate(frame.assign(available=1, action=[0, 1, 0, 2] + [0] * 1196))


def test_a_byte_order_mark_is_passed_over(tmp_path):
    (tmp_path / "log.csv").write_text("\ufeffarm,reward,p:a,p:b\na,1,0.5,0.5\n", encoding="utf-8")
    (tmp_path / "log.jsonl").write_text('\ufeff{"arm":0,"pmf":[0.5,0.5],"r":1}\n', encoding="utf-8")
    for name in ("log.csv", "log.jsonl"):
        assert gbose.evaluate(tmp_path / name).rounds == 1
