"""Memory of a service at work. Not for sanitizers, which keep what was freed."""

from server import until
from test_api import TWO, make


def test_memory_does_not_grow_with_events(server, api):
    """The quick part of "flat over ten million events": once caches are full, 40,000 events cost less than 5 bytes each."""
    make(api, spec="gbose-auto", wait="100ms")

    def load(n):
        for _ in range(n // 1000):
            api.post("/v1/bandits/news/decide", [{"contexts": TWO}] * 1000)
        until(lambda: api.get("/v1/bandits/news"), lambda b: b["counts"]["pending"] == 0 and b["learned"] == b["counts"]["outcomes"])

    load(60000)
    before = server.memory()
    load(40000)
    assert server.memory() - before < 40000 * 5
