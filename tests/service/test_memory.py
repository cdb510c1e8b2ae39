"""Memory of a service at work. Not for sanitizers, which keep what was freed."""

import os

from server import until
from test_api import TWO, make

MORE = 400_000 if os.environ.get("GBOSE_FULL") else 100_000
MOST = 50_000_000  # bytes, over ten million events: what is called flat
NOISE = 1_000_000  # bytes that an allocator and caches take and give back


def test_memory_does_not_grow_with_events(server, api):
    """Once caches are full, so many more events cost, noise apart, less each than a ten-millionth of MOST: with names, units, rewards in
    time and late, learned and evaluated."""
    make(api, spec="gbose-auto:floor=0.1", wait="100ms")
    n = 0

    def load(events):
        nonlocal n
        for _ in range(events // 1000):
            n += 1
            asked = [{"contexts": TWO, "event": f"{n}-{i}", "unit": f"u{i}"} if i % 4 == 0 else {"contexts": TWO} for i in range(1000)]
            got = api.post("/v1/bandits/news/decide", asked)
            told = [{"event": g["event"], "reward": i % 3, "final": i % 2 == 0} for i, g in enumerate(got) if i % 2]
            api.post("/v1/bandits/news/rewards", told)
            api.post("/v1/bandits/news/rewards", [{"event": got[1]["event"], "reward": 2, "id": "late"}])
        until(
            lambda: api.get("/v1/bandits/news"),
            lambda b: b["counts"]["pending"] == 0 and b["learned"] == b["counts"]["outcomes"],
        )
        for what in ("history", "evaluation", "effects", "diagnosis", "events?last=100"):
            assert api.get(f"/v1/bandits/news/{what}")

    load(60_000)
    before = server.memory()
    load(MORE)
    grown = server.memory() - before
    print(f"{grown} bytes for {MORE} events")
    assert grown < MORE * MOST / 10_000_000 + NOISE
