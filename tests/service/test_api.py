"""The routes, one by one, over the socket of a real server."""

import json
import math
import random
import re
import time

import pytest
from server import Refused, Server, gbose, until

TWO = [[1, 0, 0.5], [0, 1, 0.25]]

SCHEMA = """
action.topic    category  sports, politics, travel
action.price    number    scale=10
user.device     category  ios, android, web
time.hour       cycle     24

arm   = 1*topic  price  topic*device
round = hour  device
"""


def make(api, name="news", **settings):
    return api.put(f"/v1/bandits/{name}", {"spec": "gbose", "dim": 3, "wait": "1h", **settings})


def refusal(call, *arguments):
    with pytest.raises(Refused) as caught:
        call(*arguments)
    assert set(caught.value.error) == {"code", "message", "at"}, caught.value.body
    return caught.value


def test_the_quick_start(api):
    made = api.put(
        "/v1/bandits/news",
        {"spec": "gbose-auto:floor=0.02", "schema": SCHEMA, "wait": "30m", "default_reward": 0},
    )
    assert made["wait"] == "30m" and made["round"] > 0
    answer = api.post(
        "/v1/bandits/news/decide",
        {
            "unit": "u17",
            "round": {"time.hour": 9},
            "user": {"device": "ios"},
            "arms": [{"id": "a", "topic": "sports"}, {"id": "b", "topic": "travel", "price": 3}],
        },
    )
    assert answer["arm"] in ("a", "b")
    assert answer["probability"] == answer["pmf"][answer["arm"]]
    assert math.isclose(sum(answer["pmf"].values()), 1)
    assert answer["model"] == 1
    said = api.post("/v1/bandits/news/rewards", {"event": answer["event"], "reward": 1})
    assert said == {"result": "accepted", "late": False}
    why = api.get(f"/v1/bandits/news/events/{answer['event']}?recompute=1")
    assert why["state"] == "pending" and why["reward"] is None
    assert why["user"] == {"device": "ios"} and why["arms"] == ["a", "b"]
    assert why["recomputed"]["same"] is True
    api.put("/v1/bandits/other", {"spec": "gbose", "schema": SCHEMA.replace("24", "12"), "wait": "1h"})
    arms = {"arms": [{"id": "a", "topic": "sports"}, {"id": "b", "topic": "travel"}]}
    hashes = [api.get(f"/v1/bandits/{b}/events/{api.post(f'/v1/bandits/{b}/decide', arms)['event']}")["schema"] for b in ("news", "other")]
    assert why["schema"] == hashes[0] != hashes[1] and len(hashes[0]) == 16  # the log says by which schema


def test_bandits_are_made_changed_and_deleted(api):
    assert api.get("/v1/bandits") == {"bandits": []}
    make(api)
    assert api.put("/v1/bandits/news", {"wait": "90s", "default_reward": -0.25, "aggregate": "sum"})["wait"] == "90s"
    shown = api.get("/v1/bandits/news")
    assert (shown["default_reward"], shown["aggregate"], shown["spec"]) == (-0.25, "sum", "gbose")
    assert refusal(api.get, "/v1/bandits/nws").status == 404
    api.delete("/v1/bandits/news")
    assert refusal(api.post, "/v1/bandits/news/decide", {"contexts": TWO}).status == 404
    assert make(api)["counts"]["events"] == 0


@pytest.mark.parametrize(
    "body, code, at, says",
    [
        ({"dim": 3, "spac": "gbose"}, "unknown_field", "spac", "'spec'"),
        ({"dim": 3, "spec": "gbos"}, "bad_spec", "spec", "gbose"),
        ({"dim": 0}, "out_of_range", "dim", "from 1"),
        ({"dim": 2.5}, "out_of_range", "dim", "whole"),
        ({}, "missing", "schema", "dim"),
        ({"schema": "arm = topic"}, "bad_schema", "schema", "line 1"),
        ({"dim": 3, "wait": "soon"}, "bad_duration", "wait", "30m"),
        ({"dim": 3, "mode": "onlin"}, "bad_choice", "mode", "'online'"),
        ({"dim": "three"}, "wrong_type", "dim", "a number"),
    ],
)
def test_bad_settings_are_named(api, body, code, at, says):
    error = refusal(api.put, "/v1/bandits/b", body)
    assert (error.status, error.error["code"], error.error["at"]) == (400, code, at)
    assert says in error.error["message"]


@pytest.mark.parametrize(
    "body, code, at",
    [
        ({"contxts": TWO}, "unknown_field", "contxts"),
        ({}, "missing", "contexts"),
        ({"contexts": []}, "wrong_size", "contexts"),
        ({"contexts": [[1, 2]]}, "wrong_size", "contexts[0]"),
        ({"contexts": [[1, 2, "x"]]}, "not_a_number", "contexts[0][2]"),
        ({"contexts": [[1, 2, 1e300]]}, "not_a_number", "contexts[0][2]"),
        ({"contexts": TWO, "ids": ["a"]}, "wrong_size", "ids"),
        ({"contexts": TWO, "ids": ["a", "a"]}, "twice", "ids"),
        ({"contexts": TWO, "ids": ["a", ""]}, "bad_id", "ids[1]"),
        ({"contexts": TWO, "exclude": [2]}, "no_such_arm", "exclude[0]"),
        ({"contexts": TWO, "exclude": [0, 1]}, "no_arm_left", "exclude"),
        ({"contexts": TWO, "choice": 0}, "not_apprentice", "choice"),
        ({"contexts": TWO, "event": "x" * 257}, "bad_id", "event"),
        ({"arms": [{"id": "a"}]}, "no_schema", "arms"),
        ([{"contexts": TWO}, {"contexts": [[1]]}], "wrong_size", "[1].contexts[0]"),
        ([], "wrong_size", None),
        (3, "not_an_object", None),
    ],
)
def test_bad_requests_are_named(api, body, code, at):
    make(api)
    error = refusal(api.post, "/v1/bandits/news/decide", body)
    assert (error.status, error.error["code"], error.error["at"]) == (400, code, at)
    assert api.get("/v1/bandits/news")["counts"]["events"] == 0


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1,2", b'{"contexts": [[1,2,3]}', b"\xff", b'{"a": "\\ud800"}', b"nul", b"01", b'{"a":1}x', b"[" * 50],
)
def test_what_is_not_json_is_refused(api, body):
    make(api)
    status, data, _ = api.raw("POST", "/v1/bandits/news/decide", body)
    assert status == 400 and json.loads(data)["error"]["code"] in ("not_json", "no_body")


def test_paths_and_methods(api):
    assert refusal(api.get, "/v1/bandit").status == 404
    status, data, headers = api.raw("POST", "/v1/bandits/x", "{}")
    assert status == 405 and headers["Allow"] == "GET, PUT, DELETE"
    assert json.loads(data)["error"]["message"] == "this path answers to GET, PUT, DELETE, not to POST"
    assert api.get("/healthz")["status"] == "alive"
    assert api.get("/readyz")["status"] == "ready"


def test_openapi_lists_the_routes(api):
    spec = api.get("/openapi.json")
    assert spec["openapi"].startswith("3.") and len(spec["paths"]) > 20
    assert set(spec["paths"]["/v1/bandits/{bandit}"]) == {"put", "get", "delete"}
    assert "contexts" in spec["components"]["schemas"]["Decide"]["properties"]
    assert "wait" in spec["components"]["schemas"]["Settings"]["properties"]
    make(api)
    for path, operations in spec["paths"].items():  # each of them is there, whatever it says
        for method in operations:
            if (method, path) not in (("delete", "/v1/bandits/{bandit}"),):
                path_ = path.format(bandit="news", event="e", unit="u", generation="9", version="v1.0", file="page.js")
                status, data, _ = api.raw(method.upper(), path_, b"{}" if method in ("put", "post") else None)
                assert status != 405 and b"no_such_path" not in data, (method, path)


def test_an_event_of_the_callers_own_name_is_decided_once(api):
    make(api)
    first = api.post("/v1/bandits/news/decide", {"event": "order/1", "contexts": TWO, "ids": ["a", "b"]})
    again = api.post("/v1/bandits/news/decide", {"event": "order/1", "contexts": TWO, "ids": ["a", "b"]})
    assert first == again and first["event"] == "order/1"
    error = refusal(api.post, "/v1/bandits/news/decide", {"event": "order/1", "contexts": TWO[::-1], "ids": ["a", "b"]})
    assert error.status == 409 and error.error["at"] == "event"
    both = api.post("/v1/bandits/news/decide", [{"event": "n", "contexts": TWO}, {"event": "n", "contexts": TWO}])
    assert both[0] == both[1]
    assert api.get("/v1/bandits/news")["counts"]["events"] == 2


def test_rewards_count_once_and_late_ones_are_kept(api):
    make(api, wait="100ms", aggregate="sum", default_reward=-1)
    three = api.post("/v1/bandits/news/decide", {"contexts": TWO})["event"]
    until(lambda: api.get("/v1/bandits/news")["learned"], lambda n: n == 1)
    api.put("/v1/bandits/news", {"wait": "1h"})
    one, two = (d["event"] for d in api.post("/v1/bandits/news/decide", [{"contexts": TWO}] * 2))
    rewards = "/v1/bandits/news/rewards"
    assert api.post(rewards, {"event": one, "reward": 0.5, "id": "click"})["result"] == "accepted"
    assert api.post(rewards, {"event": one, "reward": 0.5, "id": "click"})["result"] == "repeated"
    assert refusal(api.post, rewards, {"event": one, "reward": 0.75, "id": "click"}).status == 409
    assert api.post(rewards, [{"event": one, "reward": 0.25, "id": "buy"}, {"event": "nobody", "reward": 1}])[1] == {
        "result": "missing",
        "late": False,
    }
    assert refusal(api.post, rewards, {"event": "nobody", "reward": 1}).status == 404
    assert api.post(rewards, {"event": two, "final": True})["closed"] is True
    assert refusal(api.post, rewards, {"event": two}).error["at"] == "reward"
    assert api.post(rewards, {"event": one, "final": True})["closed"] is True
    until(lambda: api.get("/v1/bandits/news")["learned"], lambda n: n == 3)
    assert api.post(rewards, {"event": three, "reward": 9}) == {"result": "accepted", "late": True}
    seen = [api.get(f"/v1/bandits/news/events/{event}") for event in (one, two, three)]
    assert [e["reward"] for e in seen] == [0.75, -1, -1]
    assert [e["state"] for e in seen] == ["reward", "default", "late"]
    assert all(e["learnt"] for e in seen) and seen[2]["rewards"][0]["late"] is True
    counts = api.get("/v1/bandits/news")["counts"]
    assert (counts["rewarded"], counts["defaulted"], counts["late"], counts["pending"]) == (1, 2, 1, 0)


def test_deferred_events_are_learned_only_if_activated(api):
    make(api, wait="1h")
    one = api.post("/v1/bandits/news/decide", {"contexts": TWO, "defer": True})["event"]
    api.put("/v1/bandits/news", {"wait": "100ms"})
    two = api.post("/v1/bandits/news/decide", {"contexts": TWO, "defer": True})["event"]
    assert api.get(f"/v1/bandits/news/events/{one}")["state"] == "deferred"
    assert api.post("/v1/bandits/news/activate", {"event": one})["result"] == "accepted"
    assert api.post("/v1/bandits/news/rewards", {"event": one, "final": True})["closed"] is True
    until(lambda: api.get("/v1/bandits/news")["counts"], lambda c: c["pending"] == 0)
    assert [api.get(f"/v1/bandits/news/events/{e}")["state"] for e in (one, two)] == ["default", "unused"]
    assert api.get(f"/v1/bandits/news/events/{two}")["reward"] is None


def test_excluded_arms_are_never_played(api):
    make(api)
    for _ in range(30):
        answer = api.post("/v1/bandits/news/decide", {"contexts": [[i, 1, 0] for i in range(4)], "exclude": [0, 2]})
        assert answer["arm"] in (1, 3) and answer["pmf"][0] == answer["pmf"][2] == 0
    why = api.get(f"/v1/bandits/news/events/{answer['event']}?recompute=1")
    assert why["recomputed"]["same"] is True


def test_guard_rails(api):
    make(api, cap=0.6, spec="lin-ucb")
    answer = api.post("/v1/bandits/news/decide", {"contexts": TWO, "ids": ["a", "b"]})
    assert max(answer["pmf"].values()) == pytest.approx(0.6) and sum(answer["pmf"].values()) == pytest.approx(1)
    api.put("/v1/bandits/news", {"fallback": True, "base_arm": "b"})
    answer = api.post("/v1/bandits/news/decide", {"contexts": TWO, "ids": ["a", "b"]})
    assert answer["arm"] == "b" and answer["probability"] == 1
    api.put("/v1/bandits/news", {"fallback": False, "mode": "apprentice", "cap": 1})
    answer = api.post(
        "/v1/bandits/news/decide", {"contexts": TWO, "ids": ["a", "b"], "choice": "a", "pmf": [0.25, 0.75]}
    )
    assert answer["arm"] == "a" and answer["pmf"] == {"a": 0.25, "b": 0.75}
    why = api.get(f"/v1/bandits/news/events/{answer['event']}?recompute=1")
    assert len(why["policies"]["shadow"]) == 2 and why["recomputed"]["same"] is True
    error = refusal(api.post, "/v1/bandits/news/decide", {"contexts": TWO, "pmf": [0.5, 0.6]})
    assert error.error["code"] == "bad_pmf"


def play(api, rounds, name="news", unit=None, seed=1):
    """A world in which the first feature earns, and a level that moves. Each hundred is learned before the next is asked for, or
    decisions would depend on how quick the trainer is."""
    rng = random.Random(seed)
    for start in range(0, rounds, 100):
        asked = []
        for _ in range(min(100, rounds - start)):
            body = {"contexts": [[rng.gauss(0, 1) for _ in range(3)] for _ in range(3)]}
            if unit:
                body["unit"] = unit(rng)
            asked.append(body)
        got = api.post(f"/v1/bandits/{name}/decide", asked)
        told = [
            {"event": d["event"], "reward": a["contexts"][d["arm"]][0] + math.sin(start / 50) + rng.gauss(0, 0.1), "final": True}
            for a, d in zip(asked, got)
        ]
        assert all(r["result"] == "accepted" for r in api.post(f"/v1/bandits/{name}/rewards", told))
        until(lambda: api.get(f"/v1/bandits/{name}"), lambda b: b["learned"] == b["counts"]["outcomes"])


def learned(api, n, name="news"):
    return until(lambda: api.get(f"/v1/bandits/{name}"), lambda b: b["learned"] == n)


def test_it_learns_and_a_restart_continues_bit_for_bit(tmp_path):
    """Two servers play the same world, one of them restarted on the way: the same decisions, the same bytes."""
    answers = []
    for restarted in (False, True):
        server = Server(tmp_path / f"data{restarted}", "--threads", "1").start()
        api = server.client()
        make(api, spec="gbose-auto")
        for part in range(25):
            play(api, 100, seed=part)
            learned(api, 100 * (part + 1))
            if restarted and part % 5 == 2:
                if part % 2:
                    server.kill()
                else:
                    assert server.stop() == 0
                server.start()
                api = server.client()
        rng = random.Random(7)
        probe = [{"contexts": [[rng.gauss(0, 1) for _ in range(3)] for _ in range(3)]} for _ in range(50)]
        got = api.post("/v1/bandits/news/decide", probe)
        answers.append([(d["arm"], d["pmf"], d["learned"]) for d in got])
        best = sum(d["arm"] == max(range(3), key=lambda a: p["contexts"][a][0]) for p, d in zip(probe, got))
        assert best > 40
        for d in got[:5]:
            assert api.get(f"/v1/bandits/news/events/{d['event']}?recompute=1")["recomputed"]["same"] is True
        assert server.stop() == 0
        answers.append(gbose("rebuild", server.data))
        assert "the same bytes" in answers[-1]
    assert answers[:2] == answers[2:]


def test_old_decisions_can_be_made_again(api):
    make(api, spec="gbose-auto")
    play(api, 1500)
    learned(api, 1500)
    for event in api.get("/v1/bandits/news/events?last=1000")["events"][::97]:
        again = api.get(f"/v1/bandits/news/events/{event['id']}?recompute=1")["recomputed"]
        assert again["same"] is True, event


def test_old_decisions_can_be_made_again_after_settings_changed(server, api):
    make(api, spec="gbose", cap=0.6123456789)
    assert api.get("/v1/bandits/news")["cap"] == 0.612346  # in millionths
    play(api, 300)
    learned(api, 300)
    events = [e["id"] for e in api.get("/v1/bandits/news/events?last=60")["events"]]
    capped = [e for e in api.get("/v1/bandits/news/events?last=60")["events"] if max(e["pmf"]) == pytest.approx(0.612346)]
    assert len(capped) > 20
    for change in ({"cap": 1}, {"cap": 0.5, "mode": "apprentice", "wait": "5m"}, {"fallback": True, "base_arm": "2"}):
        api.put("/v1/bandits/news", change)
        for event in events[::9]:
            assert api.get(f"/v1/bandits/news/events/{event}?recompute=1")["recomputed"]["same"] is True, change
    shadow = api.post("/v1/bandits/news/decide", {"contexts": TWO, "choice": 1})["event"]  # apprentice: the learner in the shadow
    api.put("/v1/bandits/news", {"cap": 1, "mode": "online", "fallback": False})
    assert api.get(f"/v1/bandits/news/events/{shadow}?recompute=1")["recomputed"]["same"] is True
    api.put("/v1/bandits/news", {"spec": "lin-ts"})
    until(lambda: api.get("/v1/bandits/news"), lambda b: b["model"] == 2)
    server.kill()
    server.start()
    for event in (*events[::9], shadow):
        assert server.client().get(f"/v1/bandits/news/events/{event}?recompute=1")["recomputed"]["same"] is True


GROWN = SCHEMA.replace("arm   = 1*topic  price  topic*device", "arm   = 1*topic  price  topic*device  price*device")


def play_named(api, n, seed):
    """Sports earns 1 more than the other topics."""
    rng = random.Random(seed)
    for _ in range(n // 50):
        asked = [
            {
                "round": {"time.hour": rng.randrange(24)},
                "user": {"device": rng.choice(["ios", "android", "web"])},
                "arms": [{"id": t, "topic": t, "price": rng.uniform(0, 10)} for t in ("sports", "politics", "travel")],
            }
            for _ in range(50)
        ]
        got = api.post("/v1/bandits/news/decide", asked)
        api.post(
            "/v1/bandits/news/rewards",
            [{"event": g["event"], "reward": (g["arm"] == "sports") + rng.gauss(0, 0.1), "final": True} for g in got],
        )


@pytest.mark.parametrize("dropped", [False, True])
def test_a_schema_that_grows_keeps_what_was_learned(server, api, dropped):
    """Terms are appended: the new generation has all the evidence, also that of events which are not in the log any more."""
    api.put("/v1/bandits/news", {"spec": "gbose-auto:floor=0.1", "schema": SCHEMA, "wait": "1h"})
    play_named(api, 2500, 1)
    learned(api, 2500)
    left = 2500
    if dropped:
        api.put("/v1/bandits/news", {"retention": "1ms"})
        left = until(lambda: len(api.raw("GET", "/v1/bandits/news/log")[1].splitlines()), lambda n: n == 2500 - 2048)
        api.put("/v1/bandits/news", {"retention": "100d"})
    before = api.get("/v1/bandits/news")
    api.post("/v1/bandits/news/generations", {"schema": GROWN, "activate": True})
    shown = until(lambda: api.get("/v1/bandits/news"), lambda b: b["model"] == 2)
    assert shown["dim"] > before["dim"] and shown["learned"] == 2500 and shown["spec"] == before["spec"]
    assert api.get("/v1/bandits/news/diagnosis")["rounds"] == 2500, left
    play_named(api, 500, 2)
    learned(api, 3000)
    assert api.get("/v1/bandits/news/diagnosis")["rounds"] == 3000
    api.post("/v1/bandits/news/generations", {"spec": "gbose-auto:floor=0.2"})  # another spec has to begin with the log that is left
    generations = until(lambda: api.get("/v1/bandits/news/generations")["generations"], lambda g: len(g) == 3 and g[0]["ready"])
    assert generations[0]["learned"] == 3000
    server.kill()
    server.start()
    assert server.client().get("/v1/bandits/news/diagnosis")["rounds"] == 3000
    assert gbose("rebuild", server.data).count("the same bytes") == 3


def test_rows_that_grow_keep_what_was_learned(server, api):
    make(api, spec="gbose-auto")
    play(api, 1200)
    learned(api, 1200)
    api.put("/v1/bandits/news", {"dim": 5})
    until(lambda: api.get("/v1/bandits/news"), lambda b: b["model"] == 2 and b["dim"] == 5 and b["learned"] == 1200)
    assert api.get("/v1/bandits/news/diagnosis")["rounds"] == 1200
    answers = [api.post("/v1/bandits/news/decide", {"contexts": [[0, 0, 0, 0, 0], [2, 0, 0, 0, 0]]})["arm"] for _ in range(20)]
    assert sum(answers) >= 18
    assert "the same bytes" in gbose("rebuild", server.data)


def test_a_new_generation_learns_the_log_and_can_be_rolled_back(server, api):
    make(api, spec="gbose")
    play(api, 700)
    learned(api, 700)
    assert refusal(api.post, "/v1/bandits/news/generations", {"spec": "gbse"}).error["at"] == "spec"
    api.post("/v1/bandits/news/generations", {"spec": "gbose-auto:floor=0.1"})
    generations = until(
        lambda: api.get("/v1/bandits/news/generations")["generations"], lambda g: len(g) == 2 and g[0]["ready"]
    )
    assert generations[0]["learned"] == 700 and not generations[0]["active"]
    play(api, 100, seed=2)
    api.put("/v1/bandits/news/generations/2/active", None)
    shown = until(lambda: api.get("/v1/bandits/news"), lambda b: b["model"] == 2)
    assert shown["spec"].startswith("gbose-auto") and shown["learned"] == 800
    answer = api.post("/v1/bandits/news/decide", {"contexts": [[1, 0, 0], [0, 0, 0]]})
    assert answer["model"] == 2 and min(answer["pmf"]) == pytest.approx(0.05)
    api.put("/v1/bandits/news/generations/1/active", None)
    until(lambda: api.get("/v1/bandits/news"), lambda b: b["model"] == 1)
    assert refusal(api.put, "/v1/bandits/news/generations/9/active", None).status == 404
    api.put("/v1/bandits/news", {"spec": "lin-ts"})  # another spec is a new generation, never a reset
    until(lambda: api.get("/v1/bandits/news"), lambda b: b["model"] == 3 and b["learned"] == 800)
    server.kill()
    server.start()
    shown = server.client().get("/v1/bandits/news")
    assert (shown["model"], shown["spec"], shown["learned"]) == (3, "lin-ts", 800)
    assert gbose("rebuild", server.data).count("the same bytes") == 3


def test_a_unit_is_erased(server, api):
    make(api, spec="gbose-auto")
    play(api, 400, unit=lambda rng: rng.choice(["ann", "bob", "eve"]))
    learned(api, 400)
    of_ann = [e for e in api.get("/v1/bandits/news/events?last=1000")["events"]]
    units = {e["unit"] for e in of_ann}
    assert len(units) == 3 and not any(name in json.dumps(of_ann) for name in ("ann", "bob", "eve"))
    assert refusal(api.delete, "/v1/bandits/news/units/joe").status == 404
    erased = api.delete("/v1/bandits/news/units/eve")
    left = 400 - erased["erased"]
    shown = until(lambda: api.get("/v1/bandits/news"), lambda b: b["model"] == erased["generation"])
    assert len(api.get("/v1/bandits/news/events?last=1000")["events"]) == left
    play(api, 50, seed=3)
    until(lambda: api.get("/v1/bandits/news"), lambda b: b["learned"] == 450)
    assert api.get("/v1/bandits/news/diagnosis")["rounds"] == left + 50
    assert shown["counts"]["events"] == 400
    server.kill()
    server.start()
    assert server.client().get("/v1/bandits/news/diagnosis")["rounds"] == left + 50
    assert "the same bytes" in gbose("rebuild", server.data)


def test_erasing_keeps_what_dropped_events_taught(server, api):
    """Events that retention has dropped are in sums only: they stay there, unless exactness is asked for."""
    make(api, spec="gbose-auto")
    play(api, 2500, unit=lambda rng: rng.choice(["ann", "bob", "eve"]))
    learned(api, 2500)
    api.put("/v1/bandits/news", {"retention": "1ms"})
    left = until(lambda: len(api.raw("GET", "/v1/bandits/news/log")[1].splitlines()), lambda n: n == 2500 - 2048)  # by blocks
    api.put("/v1/bandits/news", {"retention": "100d"})
    erased = api.delete("/v1/bandits/news/units/eve")
    assert 0 < erased["erased"] < left and erased["exact"] is False
    until(lambda: api.get("/v1/bandits/news"), lambda b: b["model"] == erased["generation"])
    until(lambda: api.get("/v1/bandits/news/diagnosis")["rounds"], lambda n: n == 2500 - erased["erased"])
    again = api.delete("/v1/bandits/news/units/bob?exact=1")
    assert again["exact"] is True
    until(lambda: api.get("/v1/bandits/news/diagnosis")["rounds"], lambda n: n == left - erased["erased"] - again["erased"])
    server.kill()
    server.start()
    assert server.client().get("/v1/bandits/news/diagnosis")["rounds"] == left - erased["erased"] - again["erased"]
    assert "the same bytes" in gbose("rebuild", server.data)


def test_retention_keeps_up(server, api):
    """However long it runs, what is kept is bounded: also past a generation that rests, and past kept snapshots."""
    make(api, spec="gbose", retention="1ms")
    for i in range(24):
        play(api, 1000, seed=i)
        if i == 4:
            api.put("/v1/bandits/news", {"spec": "lin-ts"})
    learned(api, 24000)
    until(lambda: len(api.raw("GET", "/v1/bandits/news/log")[1].splitlines()), lambda n: n < 2100)
    assert api.get("/v1/bandits/news")["learned"] == 24000


def test_evaluation_effects_and_history(api):
    """A world with a known truth: the first feature earns 1, the others nothing, under a level that moves."""
    make(api, spec="gbose-auto:floor=0.3", base_arm="1")
    play(api, 5000)
    path = "/v1/bandits/news"
    evaluation = until(lambda: api.get(path + "/evaluation"), lambda e: e["seen"] == e["of"] == 5000)
    policies = {p["policy"]: p for p in evaluation["policies"]}
    assert set(policies) == {"logged", "base", "uniform"} and evaluation["rounds"] == 5000
    for name in ("base", "uniform"):  # both earn nothing on average; the best of three normals earns 0.85
        d = policies[name]["difference"]
        assert d["lower"] < d["estimate"] < d["upper"] < -0.3, (name, d)
    assert policies["logged"]["supported"] == pytest.approx(1) and evaluation["audit"]["p"] > 1e-4
    assert [p["policy"] for p in api.get(path + "/evaluation?policy=uniform")["policies"]] == ["uniform"]
    assert "'uniform'" in refusal(api.get, path + "/evaluation?policy=unform").error["message"]
    effects = api.get(path + "/effects")["effects"]
    for effect, truth in zip(effects, (1, 0, 0)):
        assert abs(effect["estimate"] - truth) < 0.1
        assert effect["anytime"]["lower"] < truth < effect["anytime"]["upper"]
    history = api.get(path + "/history")
    assert history["arms"] == ["0", "1", "2"] or set(history["arms"]) == {"0", "1", "2"}
    assert sum(p["n"] for p in history["points"]) == 5000 and len(history["points"]) <= 240
    levels = [p["level"] for p in history["points"]]
    assert max(levels) > 0.5 and min(levels) < -0.5  # the sine is seen
    assert len(api.get(path + "/diagnosis")["says"]) == 4
    api.put(path, {"spec": "gbose"})
    until(lambda: api.get(path)["model"], lambda n: n == 2)
    assert api.get(path + "/diagnosis") == {"says": ["Only gbose-auto finds out what moves the reward; this bandit learns with gbose."]}


def test_the_log_has_every_event(server, api):
    make(api, spec="gbose:floor=0.3")
    play(api, 250)
    for path in (server.data, server.data + ":news"):  # the command reads the store as a file, while it is served
        assert gbose("log", "check", path).splitlines()[0].split() == ["decisions", "250"]
    with pytest.raises(RuntimeError, match="no bandit 'nws'"):
        gbose("log", "check", server.data + ":nws")
    assert "is worse than logged" in gbose("evaluate", server.data, "--policy", "logged", "uniform")
    status, data, headers = api.raw("GET", "/v1/bandits/news/log")
    lines = [json.loads(line) for line in data.splitlines()]
    assert status == 200 and "ndjson" in headers["Content-Type"]
    assert [line["n"] for line in lines] == list(range(250))
    assert all(line["r"] is not None and len(line["x"]) == 3 and sum(line["pmf"]) == pytest.approx(1) for line in lines)
    assert api.raw("GET", "/v1/bandits/news/log?from=2100-01-01")[1] == b""
    assert len(api.raw("GET", "/v1/bandits/news/log?from=2020-01-01&to=2100-01-01T00:00:00Z")[1].splitlines()) == 250
    assert refusal(api.get, "/v1/bandits/news/log?from=yesterday").error["at"] == "from"


def test_old_events_are_dropped_and_what_they_taught_stays(server, api):
    make(api, spec="gbose-auto")
    play(api, 1300)
    learned(api, 1300)
    api.put("/v1/bandits/news", {"retention": "1ms"})
    time.sleep(0.2)
    until(lambda: len(api.raw("GET", "/v1/bandits/news/log")[1].splitlines()), lambda n: n <= 1300 - 1000)
    assert api.get("/v1/bandits/news")["learned"] == 1300
    server.kill()
    server.start()
    assert server.client().get("/v1/bandits/news/diagnosis")["rounds"] == 1300
    assert "the same bytes" in gbose("rebuild", server.data)


def test_relaxed_answers_say_so(server, api):
    make(api, durability="relaxed")
    answers = api.post("/v1/bandits/news/decide", [{"contexts": TWO}] * 100)
    assert all(a["durable"] is False for a in answers)
    until(lambda: api.get("/v1/bandits/news")["counts"]["events"], lambda n: n == 100)
    assert server.stop() == 0


def test_keys(tmp_path):
    data = tmp_path / "data"
    with pytest.raises(RuntimeError, match="there is no key"):
        Server(data, "--listen", "0.0.0.0").start()
    server = Server(data).start()
    make(server.client())
    admin = gbose("key", "add", data, "--role", "admin").strip()
    limited = gbose("key", "add", data, "--role", "decide", "--bandit", "news", "--note", "shop").strip()
    open_door = server.client()
    until(lambda: open_door.raw("GET", "/v1/bandits")[0], lambda status: status == 401)
    assert open_door.get("/healthz") and refusal(open_door.get, "/metrics").status == 401
    assert refusal(server.client(key=admin[:-1] + ("1" if admin[-1] == "0" else "0")).get, "/v1/bandits").status == 401
    assert server.client(key=admin).get("/v1/bandits")["bandits"]
    make(server.client(key=admin), "other")
    one = server.client(key=limited)
    assert one.post("/v1/bandits/news/decide", {"contexts": TWO})
    assert refusal(one.post, "/v1/bandits/other/decide", {"contexts": TWO}).status == 403
    assert refusal(one.post, "/v1/bandits/news/rewards", {"event": "x", "reward": 1}).status == 403
    listed = gbose("key", "list", data).splitlines()
    assert len(listed) == 2 and "shop" in listed[1] and "decide" in listed[1]
    gbose("key", "revoke", data, listed[1].split()[0])
    until(lambda: one.raw("POST", "/v1/bandits/news/decide", b"{}")[0], lambda status: status == 401)
    assert server.stop() == 0
    with open(server.log) as text:
        assert admin not in text.read() and admin.encode() not in (data / "gbose.sqlite3").read_bytes()
    server = Server(data, "--listen", "0.0.0.0").start()
    assert server.client(key=admin).get("/v1/bandits")["bandits"]
    assert server.stop() == 0


def test_backup_while_it_runs(server, api, tmp_path):
    make(api)
    play(api, 100)
    (tmp_path / "copy").mkdir()
    gbose("backup", server.data, tmp_path / "copy" / "gbose.sqlite3")
    play(api, 100, seed=2)
    copy = Server(tmp_path / "copy").start()
    assert copy.client().get("/v1/bandits/news")["counts"]["events"] == 100
    assert copy.stop() == 0


def test_metrics(api):
    make(api)
    play(api, 100)
    text = api.get("/metrics")
    assert 'gbose_events_total{bandit="news"} 100' in text and 'gbose_rewards_total{bandit="news"} 100' in text
    for line in text.splitlines():
        assert line.startswith("# ") or (len(line.split()) == 2 and float(line.split()[1]) >= 0)


def test_every_answer_is_counted(api):
    """Those that wait for the disk, too, and refusals."""
    make(api)

    def answers():
        return {s: int(n) for s, n in re.findall(r'^gbose_answers_total\{status="(\d)xx"\} (\d+)$', api.get("/metrics"), re.M)}

    before = answers()
    for _ in range(10):
        api.post("/v1/bandits/news/decide", {"contexts": TWO})
    for _ in range(3):
        refusal(api.get, "/v1/bandits/olds")
    after = answers()
    assert {s: after[s] - before[s] for s in after} == {"2": 11, "3": 0, "4": 3, "5": 0}  # one for /metrics itself
