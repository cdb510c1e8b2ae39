"""Nothing lost, nothing twice: a server that is killed at random moments, on disks that are full or fail."""

import http.client
import json
import os
import random
import subprocess
import threading
import time
from pathlib import Path

import pytest
from server import Client, Refused, Server, gbose, until

ROUNDS = 200 if os.environ.get("GBOSE_FULL") else 18
CONNECTIONS = 8


class Driver(threading.Thread):
    """Decides and rewards as fast as it can, and remembers what was acknowledged. Where nothing is rewarded, decisions without names are in
    the journal for a while, and not yet in the store."""

    def __init__(self, port, seed, rewards=True):
        super().__init__(daemon=True)
        self.rewards = rewards
        self.api = Client(port, timeout=20)
        self.rng = random.Random(seed)
        self.decided = {}  # event: (arm, pmf)
        self.rewarded = {}  # event: value
        self.refused = 0
        self.stopping = False
        self.unexpected = None

    def turn(self):
        rng, api = self.rng, self.api
        arms = 60 if rng.random() < 0.2 else 3  # with large ones, some groups have their texts in the file for them
        body = {"contexts": [[rng.gauss(0, 1) for _ in range(3)] for _ in range(arms)]}
        if rng.random() < (0.3 if self.rewards else 0.01):
            body["event"] = f"mine-{rng.random()}"
        many = rng.random() < 0.3
        got = api.post("/v1/bandits/b/decide", [body, {"contexts": body["contexts"]}] if many else body)
        for answer in got if many else [got]:
            self.decided[answer["event"]] = (answer["arm"], answer["pmf"])
        for answer in got if many else [got]:
            if rng.random() < (0.7 if self.rewards else 0.01):
                value = rng.gauss(0, 1)
                api.post(
                    "/v1/bandits/b/rewards", {"event": answer["event"], "reward": value, "final": rng.random() < 0.7}
                )
                self.rewarded[answer["event"]] = value

    def run(self):
        while not self.stopping:
            try:
                self.turn()
            except Refused as refused:
                self.refused += 1
                if refused.status != 503:
                    self.unexpected = refused
                    return
                time.sleep(0.002)
            except (OSError, Exception) as error:
                if not isinstance(error, (OSError, ConnectionError)) and "http.client" not in type(error).__module__:
                    self.unexpected = error
                    return
                time.sleep(0.005)  # the server is gone; what it had not acknowledged does not count


def decided_something(drivers):
    return any(driver.decided for driver in drivers)


def refused_something(drivers):
    return any(driver.refused for driver in drivers)


def drive(port, seconds, seed, meanwhile=lambda: None, happened=decided_something, rewards=True):
    """For so many seconds, and for as long as it takes until that has happened."""
    drivers = [Driver(port, 1000 * seed + i, rewards) for i in range(CONNECTIONS)]
    for driver in drivers:
        driver.start()
    end = time.monotonic() + seconds
    meanwhile()
    time.sleep(max(0, end - time.monotonic()))
    until(lambda: drivers, happened)
    return drivers


def join(drivers, decided, rewarded):
    for driver in drivers:
        driver.stopping = True
    for driver in drivers:
        driver.join(30)
        assert driver.unexpected is None, driver.unexpected
        decided.update(driver.decided)
        rewarded.update(driver.rewarded)


def check(server, decided, rewarded):
    """Everything that was acknowledged is there, each event is learned once, and a rebuild gives the same bytes."""
    api = server.client()
    status, data, _ = api.raw("GET", "/v1/bandits/b/log")
    assert status == 200
    lines = [json.loads(line) for line in data.splitlines()]
    log = {line["id"]: line for line in lines}
    assert len(log) == len(lines), "an event is there twice"
    assert len({line["n"] for line in lines}) == len(lines)
    for event, (arm, pmf) in decided.items():
        assert event in log, f"acknowledged decision {event} is lost"
        assert (log[event]["arm"], log[event]["pmf"]) == (arm, pmf)
    for event, value in rewarded.items():
        line = log[event]
        if line["why"] is None:  # closed later
            shown = api.get(f"/v1/bandits/b/events/{event}")
            assert [r["reward"] for r in shown["rewards"]] == [value], f"acknowledged reward of {event} is lost"
        else:
            assert line["r"] == value and line["why"] == "reward"
    closed = sum(line["why"] is not None for line in lines)
    shown = until(lambda: api.get("/v1/bandits/b"), lambda b: b["learned"] == b["counts"]["outcomes"])
    assert shown["counts"]["events"] == len(lines)
    assert shown["counts"]["outcomes"] >= closed
    return shown["counts"]["outcomes"], len(lines)


def start(path, **options):
    server = Server(path, **options).start()
    server.client().put("/v1/bandits/b", {"spec": "gbose-auto", "dim": 3, "wait": "10m"})
    return server


@pytest.fixture(scope="session")
def broken_disk(tmp_path_factory):
    out = tmp_path_factory.mktemp("lib") / "broken_disk.so"
    source = Path(__file__).with_name("broken_disk.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", out, source, "-ldl"], check=True)
    return out


class Disk:
    """What the disk does from now on: the probabilities that a write or a sync fails, finds no space, or is the process's last."""

    def __init__(self, path, library):
        self.path = path
        self.env = {"LD_PRELOAD": str(library), "GBOSE_BROKEN_DISK": str(path)}
        self.is_fine()

    def says(self, fails=0, full=0, dies=0):
        other = self.path.with_suffix(".new")
        other.write_text(f"{fails} {full} {dies}")
        other.rename(self.path)

    def is_fine(self):
        self.says()


def many(server, n=1100):
    """As many outcomes at once as make a snapshot."""
    try:
        api = server.client()
        for _ in range(n // 550):
            got = api.post("/v1/bandits/b/decide", [{"contexts": [[1, 2, 3], [3, 2, 1]]}] * 550)
            api.post("/v1/bandits/b/rewards", [{"event": g["event"], "reward": 1, "final": True} for g in got])
    except (Refused, OSError, http.client.HTTPException):
        pass


def erase(server, word, erased):
    """Decisions of somebody, so many and long that their texts are in the file for them, and away with them."""
    try:
        api = server.client()
        api.put("/v1/bandits/e", {"spec": "gbose", "dim": 3, "wait": "10m"})
        asked = [{"contexts": [[1, 2, 3], [3, 2, 1]], "ids": [f"{word}-{i}-{'x' * 60}", "b"], "unit": word} for i in range(500)]
        api.post("/v1/bandits/e/decide", asked)
        api.delete(f"/v1/bandits/e/units/{word}")
        erased.append(word)
    except (Refused, OSError, http.client.HTTPException):
        pass


def on_disk(server, words):
    """The words that are in some file of the data directory."""
    files = [path.read_bytes() for path in Path(server.data).iterdir() if not path.name.endswith("-shm")]
    return [word for word in words if any(f"{word}-".encode() in data for data in files)]


def in_background(*words):
    return subprocess.Popen([os.environ["GBOSE"], *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_killed_at_random_moments(tmp_path, broken_disk):
    """While it decides, while others rebuild and back up, while it learns the log again, stores snapshots, and on bad disks."""
    rng = random.Random(5)
    disk = Disk(tmp_path / "disk", broken_disk)
    server = start(tmp_path / "data", env=disk.env)
    decided, rewarded, erased, others = {}, {}, [], []
    refused = died = 0
    kinds = ["plain", "rebuild", "backup", "generation", "snapshot", "erase", "in a write", "fails", "full"]
    for round_ in range(ROUNDS):
        kind = kinds[round_ % len(kinds)]

        def meanwhile():
            if kind == "rebuild":
                others.append(in_background("rebuild", server.data))
            elif kind == "backup":
                others.append(in_background("backup", server.data, tmp_path / f"copy{round_}"))
            elif kind == "generation":  # it learns the whole log
                try:
                    server.client().post("/v1/bandits/b/generations", {"spec": rng.choice(["gbose", "lin-ts", "gbose-auto"]), "activate": True})
                except (Refused, OSError, http.client.HTTPException):
                    pass
            elif kind == "snapshot":
                threading.Thread(target=many, args=(server,), daemon=True).start()
            elif kind == "erase":
                for i in range(3):
                    erase(server, f"she-{round_}-{i}", erased)
                threading.Thread(target=erase, args=(server, f"he-{round_}", erased), daemon=True).start()
            elif kind == "in a write":
                disk.says(dies=rng.choice([0.3, 0.03, 0.003]))
            elif kind == "fails":
                disk.says(fails=0.05)
            elif kind == "full":
                time.sleep(0.05)
                disk.says(full=1)

        happened = {
            "in a write": lambda _: server.process.poll() is not None,
            "fails": refused_something,
            "full": refused_something,
        }.get(kind, decided_something)
        drivers = drive(server.port, rng.uniform(0.05, 0.6), round_, meanwhile, happened, rewards=round_ // len(kinds) % 2 == 0)
        died += server.process.poll() is not None
        server.kill()
        disk.is_fine()
        join(drivers, decided, rewarded)
        refused += sum(driver.refused for driver in drivers)
        server.start()
        until(lambda: on_disk(server, erased), lambda found: not found)  # who reads it beside may have to end first
        if round_ % 10 == 9 or round_ == ROUNDS - 1:
            check(server, decided, rewarded)
    outcomes, events = check(server, decided, rewarded)
    assert server.stop() == 0
    for other in others:
        other.wait(60)
    assert "the same bytes" in gbose("rebuild", server.data)
    assert outcomes > ROUNDS and refused and died and erased
    assert os.path.getsize(tmp_path / "data" / "gbose.texts") > 100_000
    copies = 0
    for copy in list(tmp_path.glob("copy*")):  # a backup is whole or not there
        (tmp_path / f"of-{copy.name}").mkdir()
        target = tmp_path / f"of-{copy.name}" / "gbose.sqlite3"
        copy.rename(target)
        assert "the same bytes" in gbose("rebuild", target.parent)
        copies += 1
    print(f"{ROUNDS} kills, {died} of them in a write; {events} events, {len(decided)} acknowledged, {len(rewarded)} rewards;")
    print(f"{refused} refused by a bad disk; {copies} whole backups; {len(erased)} units erased")


def test_a_disk_that_fails_now_and_then(tmp_path, broken_disk):
    disk = Disk(tmp_path / "disk", broken_disk)
    server = start(tmp_path / "data", env=disk.env)
    decided, rewarded = {}, {}
    for round_ in range(ROUNDS // 3):
        disk.says(fails=0.03, full=0.02)
        drivers = drive(server.port, 0.4, 100 + round_, happened=refused_something, rewards=round_ % 4 < 2)
        disk.is_fine()
        time.sleep(0.1)
        if round_ % 2:
            server.kill()
        join(drivers, decided, rewarded)
        if round_ % 2:
            server.start()
    api = server.client()
    until(lambda: api.raw("GET", "/readyz")[0], lambda status: status == 200)
    assert api.post("/v1/bandits/b/decide", {"contexts": [[1, 2, 3]]})  # it has recovered
    check(server, decided, rewarded)
    assert decided
    assert server.stop() == 0
    assert "the same bytes" in gbose("rebuild", server.data)


def test_a_full_disk(tmp_path):
    server = start(tmp_path / "data", file_limit=600_000)
    decided, rewarded = {}, {}
    for round_ in range(3):
        drivers = drive(server.port, 0.8, 200 + round_, happened=decided_something if round_ == 0 else refused_something)
        join(drivers, decided, rewarded)
    api = server.client()
    assert api.raw("GET", "/healthz")[0] == 200
    with pytest.raises(Refused) as caught:
        for _ in range(2000):
            api.post("/v1/bandits/b/decide", [{"contexts": [[1, 2, 3]]}] * 50)
    assert caught.value.status == 503 and caught.value.error["code"] == "storage"
    server.kill()
    server.file_limit = None  # space again
    server.start()
    check(server, decided, rewarded)
    assert server.client().post("/v1/bandits/b/decide", {"contexts": [[1, 2, 3]]})
    assert server.stop() == 0
    assert "the same bytes" in gbose("rebuild", server.data)


def test_stopping_answers_what_is_under_way(tmp_path):
    server = start(tmp_path / "data")
    decided, rewarded = {}, {}
    drivers = drive(server.port, 0.5, 300)
    assert server.stop() == 0
    join(drivers, decided, rewarded)
    server.start()
    check(server, decided, rewarded)
    assert server.stop() == 0
