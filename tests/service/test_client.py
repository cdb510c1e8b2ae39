"""gbose.Client, from its file alone: it must need nothing but the standard library."""

import importlib.util
import threading
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("client", Path(__file__).parents[2] / "python" / "gbose" / "client.py")
client = importlib.util.module_from_spec(spec)
spec.loader.exec_module(client)


def test_a_client_does_everything(server):
    api = client.Client(f"http://127.0.0.1:{server.port}")
    news = api.bandit("news")
    news.make(spec="gbose", dim=2, wait="1h")
    d = news.decide(contexts=[[1, 0], [0, 1]], ids=["a", "b"], unit="ann", event="e 1/2")
    assert news.decide(contexts=[[1, 0], [0, 1]], ids=["a", "b"], unit="ann", event="e 1/2") == d
    assert news.reward("e 1/2", 0.5, id="click")["result"] == "accepted"
    assert news.reward("e 1/2", final=True)["closed"] is True
    assert news.why("e 1/2")["reward"] == 0.5
    many = news.decide_many([{"contexts": [[1, 0]]}] * 3)
    assert [r["result"] for r in news.reward_many([{"event": m["event"], "reward": 1} for m in many])] == ["accepted"] * 3
    assert [line["n"] for line in news.log()] == [0, 1, 2, 3] or len(list(news.log())) == 4
    assert news.why(many[0]["event"], recompute=True)["recomputed"]["same"] is True
    assert news.show()["counts"]["rewards"] == 4 and [b["name"] for b in api.bandits()] == ["news"]
    assert news.erase("ann")["erased"] == 1
    with pytest.raises(client.ServiceError) as caught:
        news.decide(contexts=[[1]])
    assert (caught.value.status, caught.value.code, caught.value.at) == (400, "wrong_size", "contexts[0]")
    with pytest.raises(ValueError):
        client.Client("127.0.0.1")


def test_it_survives_a_restart(server):
    news = client.Client(f"http://127.0.0.1:{server.port}", retries=8).bandit("news")
    news.make(spec="gbose", dim=2)
    d = news.decide(contexts=[[1, 0], [0, 1]])
    port = server.port
    server.kill()
    threading.Timer(0.3, lambda: server.start(port)).start()
    assert news.reward(d["event"], 1)["result"] == "accepted"
    assert news.decide(contexts=[[1, 0]], event="once")["arm"] == 0
