"""The page, in a real Chromium; and Personalizer's own clients. Both need npm packages, which scripts/setup.sh puts into build/npm."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from server import Server, gbose, until
from test_api import learned, make, play

HERE = Path(__file__).parent
NPM = Path(os.environ.get("GBOSE_NPM", HERE.parent.parent / "build" / "npm"))
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")

needs_node = pytest.mark.skipif(
    not (shutil.which("node") and (NPM / "node_modules" / "playwright-core").is_dir()), reason="npm packages are not there"
)


def node(script, *words):
    done = subprocess.run(
        ["node", HERE / script, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "GBOSE_NPM": str(NPM), "CHROMIUM": CHROMIUM},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_node
@pytest.mark.skipif(not os.path.exists(CHROMIUM), reason="there is no Chromium")
def test_what_a_person_sees(server, api, tmp_path):
    make(api, spec="gbose-auto:floor=0.3")
    play(api, 3000)
    learned(api, 3000)
    until(lambda: api.get("/v1/bandits/news/evaluation"), lambda e: e["seen"] == 3000)
    shots = Path(os.environ.get("GBOSE_SCREENSHOTS", tmp_path))
    assert "the page is fine" in node("page.mjs", f"http://127.0.0.1:{server.port}", shots)


def test_the_page_needs_no_key_and_its_data_does(tmp_path):
    server = Server(tmp_path / "data")
    gbose("key", "add", tmp_path / "data", "--role", "admin")
    server.start()
    api = server.client()
    status, data, headers = api.raw("GET", "/")
    assert status == 200 and b"<!doctype html>" in data and "default-src 'self'" in headers["Content-Security-Policy"]
    for name in ("page.js", "style.css", "view.js", "api.js", "charts.js"):
        assert api.raw("GET", f"/web/{name}")[0] == 200
    assert api.raw("GET", "/web/none.js")[0] == 404
    assert api.raw("GET", "/v1/bandits")[0] == 401
    assert server.stop() == 0


@needs_node
def test_personalizers_own_clients(tmp_path):
    server = Server(tmp_path / "data")
    key = gbose("key", "add", tmp_path / "data", "--role", "admin").strip()
    server.start()
    assert "both clients are fine" in node("personalizer.mjs", f"http://127.0.0.1:{server.port}", key)
    api = server.client(key=key)
    shown = api.get("/v1/bandits/personalizer")
    assert shown["counts"]["events"] == 5 and shown["counts"]["rewards"] == 5
    log = {e["id"]: e for e in api.get("/v1/bandits/personalizer/events?last=10")["events"]}
    assert log["old-1"]["rewards"][0]["reward"] == 0.5 and "device.os=ios" in log["old-1"]["user"]["words"]
    assert server.stop() == 0


def test_personalizers_calls_learn(server, api):
    """A person's taste depends on the hour: the service finds out, from features alone."""
    import random

    rng = random.Random(3)
    actions = [{"id": i, "features": [{"taste": t}]} for i, t in (("a", "sweet"), ("b", "salty"))]
    good = 0
    api.raw("POST", "/personalizer/v1.0/rank", '{"actions": [{"id": "a"}]}')
    api.put("/v1/bandits/personalizer", {"wait": "500ms"})
    for turn in range(600):
        hour = rng.choice(["morning", "evening"])
        got = api.post("/personalizer/v1.0/rank", {"contextFeatures": [{"hour": hour}], "actions": actions})
        right = (got["rewardActionId"] == "a") == (hour == "morning")
        api.post(f"/personalizer/v1.0/events/{got['eventId']}/reward", {"value": float(right)})
        good += right and turn >= 400
        if turn == 399:  # what it was told so far is learned
            until(lambda: api.get("/v1/bandits/personalizer"), lambda b: b["learned"] >= 400)
    assert good > 200 * 0.8  # of which one in ten is left to chance
