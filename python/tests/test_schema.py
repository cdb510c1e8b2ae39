"""Schemas: the same data in any form gives the same bytes, bandits with a schema, and what is refused."""

import copy
import csv
import dataclasses
import datetime
import io
import json
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbose

TEXT = """
    action.price   number    scale=10
    action.count   number    log
    action.topic   category  sports, "world news", 7
    action.new     flag
    action.tags    set       hash=8
    action.v       vector 2
    user.device    category  ios, android, true
    user.age       number    scale=20 offset=40
    time.hour      cycle 24
    arm   = 1*topic  price  count  new  tags  v  topic*device  price*age  v*hour
    round = device  age  hour
"""
SCHEMA = gbose.Schema(TEXT)


def test_what_it_says():
    assert SCHEMA.dim == len(SCHEMA.columns) == len(set(SCHEMA.columns))
    assert SCHEMA.round == len(SCHEMA.round_columns) == 10
    assert SCHEMA.columns[0] == "action.topic=sports" and SCHEMA.columns[1] == 'action.topic="world news"'
    assert gbose.Schema(SCHEMA.text) == SCHEMA and hash(gbose.Schema(SCHEMA.text)) == hash(SCHEMA)
    assert gbose.Schema(SCHEMA.text).hash == SCHEMA.hash
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA == copy.deepcopy(SCHEMA)
    assert f"{SCHEMA.hash:016x}" in repr(SCHEMA) and str(SCHEMA) == SCHEMA.text
    more = gbose.Schema(TEXT.replace("v*hour", "v*hour new*age"))
    assert more.extends(SCHEMA) and SCHEMA.extends(SCHEMA) and not SCHEMA.extends(more)
    assert SCHEMA != more


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "line 1: there is no line 'arm = ...'"),
        ("action.a number\narm = b", "line 2: unknown feature 'b'; did you mean 'a'?"),
        ("user.a number\narm = a", "line 2: 'a' holds nothing of action.: it is the same for all arms and cancels"),
        ("action.a number\n\0", "line 2: there is a zero byte"),
    ],
)
def test_wrong_texts(text, says):
    with pytest.raises(gbose.Error, match=says.replace("?", r"\?").replace("(", r"\(")) as error:
        gbose.Schema(text)
    assert error.value.name == "ESCHEMA"
    with pytest.raises(TypeError):
        gbose.Schema(3)


# ---- the same data in any form ----

words = st.sampled_from(["sports", "world news", "7", "other", "ä|b", "x,\"y"])
numbers = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-1000, 1000))
actions = st.fixed_dictionaries(
    {
        "price": numbers,
        "count": st.one_of(st.none(), st.integers(0, 10**6)),
        "topic": st.one_of(st.none(), words),
        "new": st.one_of(st.none(), st.booleans()),
        "tags": st.lists(st.sampled_from(["a", "b", "c d"]), max_size=4),
        "v": st.tuples(st.floats(-5, 5), st.floats(-5, 5)).map(list),
    }
)
users = st.fixed_dictionaries({"device": st.sampled_from([None, "ios", "true", "palm"]), "age": numbers})


def plain(actions, user, hour):
    return SCHEMA.encode(actions, user=user, time={"hour": hour})


def same(a, b):
    return a[0].tobytes() == b[0].tobytes() and a[1].tobytes() == b[1].tobytes()


@given(st.lists(actions, min_size=1, max_size=4), users, st.integers(0, 23))
def test_every_form_gives_the_same_bytes(actions, user, hour):
    expected = plain(actions, user, hour)
    assert expected[0].shape == (len(actions), SCHEMA.dim) and expected[1].shape == (SCHEMA.round,)

    # JSON
    said = json.loads(json.dumps({"actions": actions, "user": user, "time": {"hour": hour}}))
    assert same(SCHEMA.encode(**said), expected)

    # what is missing may be left out; the order does not matter
    short = [{k: v for k, v in reversed(list(a.items())) if v is not None} for a in actions]
    assert same(SCHEMA.encode(short, time={"hour": float(hour)}, user={k: v for k, v in user.items() if v is not None}), expected)

    # CSV: all texts
    file = io.StringIO()
    writer = csv.DictWriter(file, [f"action.{k}" for k in actions[0]])
    writer.writeheader()
    for a in actions:
        row = {f"action.{k}": "" if v is None else "|".join(map(str, v)) or "|" if isinstance(v, list) else v for k, v in a.items()}
        writer.writerow(row)
    file.seek(0)
    rows = list(csv.DictReader(file))
    if not any(a["topic"] and "|" in a["topic"] for a in actions):
        texts = {k: "" if v is None else str(v) for k, v in user.items()}
        assert same(SCHEMA.encode(rows, user=texts, time={"hour": str(hour)}), expected)

    # a frame of objects, and one with pandas' own types
    frame = pd.DataFrame(actions, dtype=object)
    assert same(SCHEMA.encode(frame, user=pd.Series(user, dtype=object), time={"hour": np.int64(hour)}), expected)
    typed = frame.astype({"price": "Float64", "count": "Int64", "topic": "category", "new": "boolean"})
    assert same(SCHEMA.encode(typed, user=user, time=pd.DataFrame({"hour": [hour]})), expected)
    strings = frame.astype({"topic": "string"})
    assert same(SCHEMA.encode(strings, user=user, time={"hour": hour}), expected)

    # full names, with the features of the round in the same frame
    full = frame.add_prefix("action.").assign(**{f"user.{k}": pd.Series([v] * len(actions), dtype=object) for k, v in user.items()})
    assert same(SCHEMA.encode(full, time={"hour": hour}), expected)


def test_records_and_other_forms():
    records = np.array(
        [(3.0, 4, "sports", True, [0.5, 1.0]), (1.0, 2, "x", False, [2.0, 3.0])],
        dtype=[("price", "f4"), ("count", "i2"), ("topic", "U10"), ("new", "?"), ("v", "f8", (2,))],
    )
    dicts = [
        {"price": 3, "count": 4, "topic": "sports", "new": True, "v": [0.5, 1]},
        {"price": 1, "count": 2, "topic": "x", "new": False, "v": (2, 3)},
    ]
    expected = SCHEMA.encode(dicts, user={"device": "ios", "age": 30})
    user = np.array([("ios", 30)], dtype=[("device", "S5"), ("age", "i8")])
    assert same(SCHEMA.encode(records, user=user[0]), expected)
    assert same(SCHEMA.encode(records, user=user), expected)
    assert same(SCHEMA.encode(list(records), user={"device": b"ios", "age": Decimal(30)}), expected)

    @dataclasses.dataclass
    class User:
        device: str
        age: int

    assert same(SCHEMA.encode(iter(dicts), user=User("ios", 30)), expected)
    assert same(SCHEMA.encode(tuple(dicts), user={"user.device": "ios", "age": np.float32(30)}, other={"x": object()}), expected)
    numpy_values = [{k: np.array(v) if k == "v" else np.asarray(v)[()] for k, v in d.items()} for d in dicts]
    assert same(SCHEMA.encode(numpy_values, user={"device": np.str_("ios"), "age": np.int8(30)}), expected)
    assert same(SCHEMA.encode(dicts, user={"device": "ios", "age": 30}, time=None), expected)


def test_time_and_sets():
    when = datetime.datetime(2024, 3, 5, 14, 30)
    assert same(SCHEMA.encode([{}], time=when), SCHEMA.encode([{}], time={"hour": 14.5}))
    a = SCHEMA.encode([{"tags": {"a", "b"}}])
    assert same(SCHEMA.encode([{"tags": ("b", "a", "b", None)}]), a)
    assert same(SCHEMA.encode([{"tags": pd.Series(["a", "b"])}]), a)
    assert same(SCHEMA.encode([{"tags": np.array(["a", "b"])}]), a)
    assert same(SCHEMA.encode([{"price": pd.NA, "topic": float("nan"), "new": pd.NaT}]), SCHEMA.encode([{}]))
    ids = gbose.Schema("action.id category a, b, 3\narm = id")
    assert np.array_equal(ids.encode(["a", 3, "c", {"id": "b"}])[0].argmax(axis=1), [0, 2, 3, 1])


@pytest.mark.parametrize(
    "actions, user, says",
    [
        ([{"price": "many"}], {}, "action.price must be a number; got 'many'"),
        ([{"price": object()}], {}, "action.price must be a number, a text, or a list of either, not of type object"),
        ([{"price": [1, 2]}], {}, "action.price must be a number; got a list"),
        ([{"v": [1, 2, 3]}], {}, "action.v must be 2 numbers; got 3"),
        ([{"v": [1, "x"]}], {}, "action.v must be all numbers or all texts; an entry is of type str"),
        ([{"v": np.ones((2, 2))}], {}, "an entry is of type numpy.ndarray"),
        ([{"tags": ["a", 1]}], {}, "action.tags must be all numbers or all texts; an entry is of type int"),
        ([{"topic": "a\0b"}], {}, "action.topic is a text with a zero byte"),
        ([{"topic": "\ud800"}], {}, "action.topic is a text that UTF-8 cannot hold"),
        ([{"price": 10**400}], {}, "action.price must be a number that a float can hold, not of type int"),
        ([{"price": float("inf")}], {}, "action.price is infinite"),
        ([{1: 2}], {}, "action has a key that is no text, but of type int"),
        ([{}], {"age": "?"}, "user.age must be a number"),
        ([{}], 3, "user: features are a dictionary, a record or a row of a frame, not of type int"),
        ([{}], pd.DataFrame({"age": [1, 2]}), "user: a frame must have one row, not 2"),
        ({"price": 1}, {}, "actions must be a list of dictionaries"),
        ("ab", {}, "actions must be a list of dictionaries"),
        (3, {}, "actions must be a list, a frame or records, not of type int"),
    ],
)
def test_wrong_values(actions, user, says):
    with pytest.raises(gbose.Error) as error:
        SCHEMA.encode(actions, user=user)
    assert says in str(error.value)


def test_nested_and_unused():
    schema = gbose.Schema("user.address.city category Bern, Rome\naction.a number\narm = a a*city")
    nested = schema.encode([{"a": 1, "more": {"deep": object()}}], user={"address": {"city": "Rome", "street": object()}})
    assert same(nested, schema.encode([{"action.a": 1}], user={"address.city": "Rome"}))
    with pytest.raises(gbose.Error, match="given twice"):
        schema.encode([{"a": 1, "action.a": 1}])


# ---- bandits ----


def play(bandit, rng, rounds):
    for _ in range(rounds):
        topics = rng.choice(["sports", "world news", "x"], size=4)
        actions = [{"price": float(rng.uniform(0, 20)), "topic": str(topic)} for topic in topics]
        user = {"device": str(rng.choice(["ios", "android"])), "age": float(rng.uniform(20, 60))}
        decision = bandit.decide(actions=actions, user=user, time={"hour": int(rng.integers(24))})
        action = actions[decision.arm]
        reward = -0.05 * action["price"] + (action["topic"] == "sports") + user["age"] / 10 + 0.1 * rng.normal()
        bandit.learn(decision, reward)
        yield actions[decision.arm], decision


def test_a_bandit_with_a_schema(rng):
    bandit = gbose.Bandit("gbose-auto", schema=SCHEMA, seed=2)
    assert bandit.dim == SCHEMA.dim and bandit.round_features == SCHEMA.round and bandit.schema is SCHEMA
    chosen = [action["topic"] for action, _ in play(bandit, rng, 1500)]
    assert chosen[-300:].count("sports") > 200
    trial = gbose.Bandit("uniform:intercept=1", schema=SCHEMA, seed=2)  # explores for ever, so that signs can be told
    list(play(trial, rng, 1500))
    coef = trial.coef
    assert coef.columns == SCHEMA.columns and coef["action.price"] < 0
    assert coef["action.price"] == coef[SCHEMA.columns.index("action.price")] == coef.to_dict()["action.price"]
    assert type(coef + 1) is np.ndarray and type(coef @ coef) is np.float64 and "action.price " in repr(coef)
    assert pickle.loads(pickle.dumps(coef)).columns == coef.columns
    with pytest.raises(KeyError):
        coef["price"]

    # the same as by hand
    rows, features = SCHEMA.encode([{"price": 1}, {"price": 2}], user={"age": 30})
    one, two = copy.copy(bandit), pickle.loads(pickle.dumps(bandit))
    assert one.schema == two.schema == SCHEMA
    assert one.decide(rows, features).ticket == two.decide(actions=[{"price": 1}, {"price": 2}], user={"age": 30}).ticket
    assert gbose.load(bandit.save(), SCHEMA).schema is SCHEMA
    assert gbose.load(bandit.save()).schema is None


def test_a_learner_without_features_of_the_round(rng):
    bandit = gbose.Bandit("lin-ts", schema=SCHEMA, seed=2)
    assert bandit.round_features == 0
    for _ in play(bandit, rng, 10):
        pass
    assert bandit.rounds == 10


def test_another_schemas_things_are_refused(rng):
    other = gbose.Schema("action.price number\narm = price")
    bandit, foreign = gbose.Bandit("gbose", schema=SCHEMA), gbose.Bandit("gbose", schema=other)
    with pytest.raises(gbose.Error, match="another spec|with 60 features"):
        foreign.learn(bandit.decide(actions=[{}, {}]), 1.0)
    with pytest.raises(gbose.Error, match="was made for the schema") as error:
        gbose.load(bandit.save(), other)
    assert error.value.name == "ESCHEMA"
    plain = gbose.Bandit("gbose", dim=1)
    for use, says in [
        (lambda: gbose.load(plain.save(), other), "made without a schema"),
        (lambda: plain.decide(actions=[{}]), "has no schema"),
        (lambda: bandit.decide(user={}), "actions are missing"),
        (lambda: bandit.decide(np.zeros((1, SCHEMA.dim)), actions=[{}]), "not both"),
        (lambda: bandit.decide(actions=[]), "contexts must have the shape"),
        (lambda: gbose.Bandit("gbose", dim=3, schema=SCHEMA), "leave out dim=3"),
        (lambda: gbose.Bandit("gbose-auto", schema=SCHEMA, round=3), "leave out round=3"),
    ]:
        with pytest.raises(gbose.Error, match=says):
            use()
    with pytest.raises(TypeError):
        gbose.Bandit("gbose", schema="arm = x")
    with pytest.raises(TypeError):
        bandit.decide()


def test_growth(rng):
    bandit = gbose.Bandit("gbose", schema=SCHEMA, seed=2)
    for _ in play(bandit, rng, 200):
        pass
    more = gbose.Schema(TEXT.replace("v*hour", "v*hour new*age"))
    grown = bandit.grow(more)
    assert grown.schema is more and grown.rounds == 200 and grown.dim == more.dim
    assert grown.coef[: bandit.dim].tolist() == pytest.approx(bandit.coef.tolist(), abs=1e-12)
    for _ in play(grown, rng, 10):
        pass
    with pytest.raises(gbose.Error, match="is not there any more"):
        grown.grow(SCHEMA)
    with pytest.raises(gbose.Error, match="no schema"):
        gbose.Bandit("gbose", dim=2).grow(more)


# ---- fit ----


def test_fit(rng):
    n = 500
    frame = pd.DataFrame(
        {
            "price": rng.normal(50, 10, n),
            "topic": pd.Categorical(rng.choice(["a", "b c"], n)),
            "new": rng.uniform(size=n) < 0.5,
            "count": pd.array(rng.integers(0, 100, n), dtype="Int64"),
            "device": rng.choice(["ios", None], n),
            "time.hour": rng.integers(0, 24, n),
            "constant": 1,
        }
    )
    schema = gbose.Schema.fit(frame, arm=["price", "topic", "new", "count"], round=["device", "time.hour", "constant"])
    for line in [
        'action.topic category a, "b c" missing=off',
        "action.new flag missing=off",
        "user.device category ios\n",
        "time.hour cycle 24 missing=off",
        "arm = action.price action.topic action.new action.count",
        "round = user.device time.hour",
    ]:
        assert line in schema.text or line.replace('a, "b c"', '"b c", a') in schema.text, schema.text
    rows, _ = schema.encode(frame)
    assert rows.shape == (n, schema.dim)
    prices = rows[:, schema.columns.index("action.price")]
    assert abs(prices.mean()) < 0.2 and 0.8 < prices.std() < 1.2
    assert gbose.Schema.fit(frame.to_dict("records"), ["price", "topic", "new", "count"], ["device", "time.hour"]) == schema
    for use, says in [
        (lambda: gbose.Schema.fit(frame, arm=["nothing"]), "there is no column 'nothing'"),
        (lambda: gbose.Schema.fit(frame[:0], arm=["price"]), "there are no rows"),
        (lambda: gbose.Schema.fit(frame, arm=[], round=["device"]), "nothing to choose by"),
    ]:
        with pytest.raises(gbose.Error, match=says):
            use()
