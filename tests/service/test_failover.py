"""A standby takes the place of the database. With synchronous replication nothing that was acknowledged is lost; without it the
last moments are, and servers then go by what is there."""

import json
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from server import Server, gbose, until
from test_fleet import Driver, check, everywhere

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from postgres import NotInstalled, Postgres  # noqa: E402


class Pair:
    """A database and its standby, and servers that know both addresses."""

    def __init__(self, path, synchronous):
        self.path, self.servers = path, []
        self.primary = Postgres().initialise().start()
        self.standby = Postgres()
        self.standby.follow(self.primary).start()
        until(lambda: self.primary.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"), lambda n: n == "1")
        if synchronous:
            self.primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            self.primary.sql("SELECT pg_reload_conf()")
            until(lambda: self.primary.sql("SELECT sync_state FROM pg_stat_replication"), lambda state: state == "sync")
        self.url = f"postgresql://gbose@127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}/postgres"

    def serve(self, n):
        for _ in range(n):
            server = Server(self.path / f"server{len(self.servers)}", "--threads", "1", env={"GBOSE_STORE_PATIENCE": "1500"})
            server.words = lambda port: ["serve", "--store", self.url, "--port", str(port), "--threads", "1"]
            self.servers.append(server.start())
        self.servers[0].client().put("/v1/bandits/b", {"spec": "gbose-auto", "dim": 3, "wait": "10m"})
        everywhere(self.servers, "/v1/bandits/b", lambda shown: True)
        return self.servers

    def fail_over(self):
        self.primary.stop(signal.SIGQUIT)
        if self.standby.process.poll() is not None:
            self.standby.start()
        self.standby.promote()

    def close(self):
        for server in self.servers:
            if server.process.poll() is None:
                server.kill()
        self.standby.remove()
        self.primary.remove()


@pytest.fixture
def pair(tmp_path):
    pairs = []

    def make(synchronous):
        try:
            pairs.append(Pair(tmp_path, synchronous))
        except NotInstalled as error:
            pytest.skip(str(error))
        return pairs[0]

    yield make
    for one in pairs:
        one.close()


def drive(servers, n=8):
    drivers = [Driver(servers, 200 + i) for i in range(n)]
    for driver in drivers:
        driver.start()
    return drivers


def known(drivers):
    """How many decisions were acknowledged so far."""
    return sum(len(driver.decided) for driver in drivers)


def drive_on(drivers, more=150):
    """Until so many further decisions are acknowledged."""
    before = known(drivers)
    until(lambda: known(drivers), lambda n: n >= before + more)


def finish(drivers):
    decided, rewarded = {}, {}
    for driver in drivers:
        driver.stopping = True
    for driver in drivers:
        driver.join(60)
        assert driver.unexpected is None, driver.unexpected
        decided.update(driver.decided)
        rewarded.update(driver.rewarded)
    return decided, rewarded


def ready(servers):
    for server in servers:
        until(lambda: server.client().raw("GET", "/readyz")[0], lambda status: status == 200)


def test_nothing_acknowledged_is_lost_with_a_synchronous_standby(pair):
    pair = pair(synchronous=True)
    servers = pair.serve(3)
    drivers = drive(servers)
    drive_on(drivers)
    pair.fail_over()
    began = time.monotonic()
    ready(servers)
    print(f"all servers write again {time.monotonic() - began:.1f} s after the standby was promoted")
    drive_on(drivers)
    decided, rewarded = finish(drivers)
    counts = check(servers, decided, rewarded)
    said = gbose("rebuild", pair.standby.url)
    assert said.count("the same bytes") == len(said.splitlines()) == 2, said
    gbose("store", "check", pair.standby.url)
    print(f"{counts['events']} events, {len(decided)} acknowledged, {len(rewarded)} rewards")
    assert [server.stop() for server in servers] == [0, 0, 0]


def test_what_is_not_on_the_synchronous_standby_is_not_acknowledged(pair):
    pair = pair(synchronous=True)
    pair.primary.sql("ALTER SYSTEM SET synchronous_commit = off")  # which is not asked for decisions
    pair.primary.sql("SELECT pg_reload_conf()")
    (server,) = pair.serve(1)
    api = server.client()
    body = {"contexts": [[1, 2, 3], [2, 1, 0]]}
    api.post("/v1/bandits/b/decide", {**body, "event": "before"})
    pair.standby.stop()
    # The database commits what it cannot give to its standby when it is told to stop waiting: that must not count. It is told so by somebody who
    # means well, and if that takes long by the server, which ends the session that does not answer.
    answered = threading.Event()

    def stop_waiting():
        while not answered.is_set():
            pair.primary.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")

    helper = threading.Thread(target=stop_waiting)
    helper.start()
    status = api.raw("POST", "/v1/bandits/b/decide", json.dumps({**body, "event": "between"}))[0]
    answered.set()
    helper.join()
    assert status == 503
    pair.fail_over()
    ready([server])
    assert api.raw("GET", "/v1/bandits/b/events/before")[0] == 200
    assert api.raw("GET", "/v1/bandits/b/events/between")[0] == 404
    assert api.post("/v1/bandits/b/decide", {**body, "event": "between"})


def test_the_last_moments_without_a_synchronous_standby(pair):
    pair = pair(synchronous=False)
    servers = pair.serve(3)
    drivers = drive(servers)
    drive_on(drivers)
    pair.standby.stop()
    early = {event: answer for driver in drivers for event, answer in list(driver.decided.items())}
    drive_on(drivers)
    finish(drivers)
    last = pair.primary.sql("SELECT max(key) FROM gbose.event")
    lost = int(pair.primary.sql("SELECT outcomes FROM gbose.numbering"))
    pair.fail_over()
    kept = int(pair.standby.sql("SELECT outcomes FROM gbose.numbering"))
    assert kept < lost and pair.standby.sql("SELECT max(key) FROM gbose.event") < last
    # The servers knew more than the database that they have now. They forget it, and go on from what is there.
    ready(servers)
    everywhere(servers, "/v1/bandits/b", lambda shown: shown["learned"] == shown["counts"]["outcomes"] == kept)
    drivers = drive(servers)
    drive_on(drivers)
    decided, rewarded = finish(drivers)
    check(servers, decided, rewarded)
    # Numbers that were given away and lost are not given to others.
    assert int(pair.standby.sql("SELECT count(*) - count(DISTINCT key) FROM gbose.event")) == 0
    said = gbose("rebuild", pair.standby.url)
    assert said.count("the same bytes") == len(said.splitlines()) == 2, said
    gbose("store", "check", pair.standby.url)
    there = {line["id"] for line in map(json.loads, servers[0].client().raw("GET", "/v1/bandits/b/log")[1].splitlines())}
    print(f"{len(set(early) & there)} of {len(early)} early decisions are there; outcomes went back from {lost} to {kept}")
    assert [server.stop() for server in servers] == [0, 0, 0]
