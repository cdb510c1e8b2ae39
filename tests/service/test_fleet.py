"""Many servers on one PostgreSQL work as one, whatever dies: servers killed with -9, the trainer in the middle of a snapshot,
the database, the network between them. Nothing acknowledged is lost, and each event is learned once."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from server import GBOSE, Client, Refused, Server, gbose, until
from test_page import node

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from postgres import NotInstalled, Postgres, free_port  # noqa: E402

FAULTS = 100 if os.environ.get("GBOSE_FULL") else 10
CONNECTIONS = 16


@pytest.fixture(scope="module")
def postgres():
    def stop(*_):
        raise KeyboardInterrupt  # so that what was started is ended

    signal.signal(signal.SIGTERM, stop)
    try:
        with Postgres() as it:
            yield it
    except NotInstalled as error:
        pytest.skip(str(error))


@pytest.fixture
def database(postgres):
    if postgres.process.poll() is not None:
        postgres.start()
    postgres.sql("SET client_min_messages = error; DROP SCHEMA IF EXISTS gbose CASCADE")
    return postgres


class Proxy:
    """A network between a server and the database, that can be cut (connections break) or swallow everything (they do not)."""

    def __init__(self, port):
        self.target, self.mode, self.pairs = port, "open", []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.closed = False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.closed:
            try:
                inner, _ = self.listener.accept()
            except OSError:
                return
            if self.mode == "cut":
                inner.close()
                continue
            try:
                outer = socket.create_connection(("127.0.0.1", self.target), timeout=5)
            except OSError:
                inner.close()
                continue
            for one in (inner, outer):
                one.settimeout(None)
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.pairs.append((inner, outer))
            for a, b in ((inner, outer), (outer, inner)):
                threading.Thread(target=self.pump, args=(a, b), daemon=True).start()

    def pump(self, a, b):
        try:
            while data := a.recv(1 << 16):
                while self.mode == "swallow":
                    time.sleep(0.02)
                b.sendall(data)
        except OSError:
            pass
        for one in (a, b):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.mode = "cut"
        for pair in self.pairs:
            for one in pair:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        self.pairs.clear()

    def close(self):
        self.closed = True
        self.cut()
        self.listener.close()


class FleetServer(Server):
    """A server on the database, through a proxy of its own."""

    def __init__(self, database, path, *options, env=None):
        self.proxy = Proxy(database.port)
        self.url = database.url.replace(str(database.port), str(self.proxy.port))
        super().__init__(path, "--threads", "1", *options, env={"GBOSE_STORE_PATIENCE": "1500", **(env or {})})

    def words(self, port):
        return ["serve", "--store", self.url, "--port", str(port), *self.options]


@pytest.fixture
def fleet(database, tmp_path):
    servers = []

    def start(n, *options, **more):
        for i in range(n):
            servers.append(FleetServer(database, tmp_path / f"server{len(servers)}", *options, **more).start())
        return servers

    yield start
    for server in servers:
        if server.process and server.process.poll() is None:
            server.kill()
        server.proxy.close()


def everywhere(servers, path, good):
    for server in servers:
        until(lambda: server.client().raw("GET", path), lambda answer: answer[0] == 200 and good(json.loads(answer[1])))


# ---- one thing at a time -----------------------------------------------------------------------------------------------


def test_servers_follow_each_other(fleet, database):
    servers = fleet(3)
    a, b, c = (server.client() for server in servers)
    a.put("/v1/bandits/b", {"dim": 2, "wait": "10m"})
    everywhere(servers, "/v1/bandits/b", lambda shown: True)
    # A reward may come to another server than the one that decided. A new model should reach all servers within two seconds: at the first
    # time it is shown at once, and of those that follow one is enough, since the machine may be busy with something else.
    took, n = [], 0
    while n < 40 or (min(took[1:]) >= 2 and n < 200):
        for i in range(n, n + 10):
            got = (a, b, c)[i % 3].post("/v1/bandits/b/decide", {"contexts": [[1, i % 2], [0, 1]]})
            assert (a, b, c)[(i + 1) % 3].post("/v1/bandits/b/rewards", {"event": got["event"], "reward": i / 7, "final": True})["closed"]
        n, began = n + 10, time.monotonic()
        everywhere(servers, "/v1/bandits/b", lambda shown: shown["learned"] == n)
        took.append(time.monotonic() - began)
    assert min(took[1:]) < 2, f"a new model reached all servers in {took} s"
    for event in b.get(f"/v1/bandits/b/events?last={n}")["events"]:
        again = c.get(f"/v1/bandits/b/events/{event['id']}?recompute=1")["recomputed"]
        assert again["possible"] and again["same"]
    # Settings, generations and keys are followed too.
    b.put("/v1/bandits/b", {"cap": 0.75})
    everywhere(servers, "/v1/bandits/b", lambda shown: shown["cap"] == 0.75)
    c.post("/v1/bandits/b/generations", {"spec": "lin-ts", "activate": True})
    everywhere(servers, "/v1/bandits/b", lambda shown: shown["model"] == 2 and shown["spec"].startswith("lin-ts"))
    a.raw("PUT", "/v1/bandits/b/generations/1/active")
    everywhere(servers, "/v1/bandits/b", lambda shown: shown["model"] == 1)
    # A unit is erased at one server, and from the models of all.
    event = b.post("/v1/bandits/b/decide", {"contexts": [[1, 0], [0, 1]], "unit": "somebody"})["event"]
    c.post("/v1/bandits/b/rewards", {"event": event, "reward": 1, "final": True})
    everywhere(servers, "/v1/bandits/b", lambda shown: shown["learned"] == n + 1)
    erased = c.delete("/v1/bandits/b/units/somebody")
    assert erased["erased"] == 1
    everywhere(servers, "/v1/bandits/b", lambda shown: shown["model"] == erased["generation"])
    assert [server.client().raw("GET", f"/v1/bandits/b/events/{event}")[0] for server in servers] == [404] * 3
    until(lambda: database.sql("SELECT array_agg(generation) FROM gbose.live"), lambda shown: shown == f"{{{erased['generation']}}}")
    assert all("the same bytes" in line for line in gbose("rebuild", database.url).splitlines())
    listed = b.get("/v1/servers")["servers"]
    assert [server["stream"] for server in listed] == [1, 2, 3]
    assert sum(of["leads"] for server in listed for of in server["report"]["bandits"]) == 1
    metrics = c.raw("GET", "/metrics")[1].decode()
    for line in ('gbose_model_behind{bandit="b"} 0', "gbose_store_reachable 1", "gbose_stream 3"):
        assert line in metrics
    # Each server's generation and lag, as it reports them once a second.
    of = f'bandit="b",generation="{erased["generation"]}"}}'
    for stream in (1, 2, 3):
        for line in (f'gbose_server_learned{{stream="{stream}",{of} {n + 1}\n', f'gbose_server_behind{{stream="{stream}",{of} 0\n'):
            until(lambda: a.raw("GET", "/metrics")[1].decode(), lambda text: line in text)
    a.delete("/v1/bandits/b")
    for server in servers:
        until(lambda: server.client().raw("GET", "/v1/bandits/b")[0], lambda status: status == 404)
    assert [server.stop() for server in servers] == [0, 0, 0]
    assert database.sql("SELECT count(*) FROM gbose.server") == "0"


def test_the_page_shows_all_servers(fleet):
    servers = fleet(3)
    api = servers[0].client()
    api.put("/v1/bandits/b", {"dim": 2, "wait": "10m"})
    for i in range(5):
        event = api.post("/v1/bandits/b/decide", {"contexts": [[1, i], [0, 1]]})["event"]
        api.post("/v1/bandits/b/rewards", {"event": event, "reward": i, "final": True})

    def said():
        return [of for server in api.get("/v1/servers")["servers"] for of in server["report"]["bandits"]]

    until(said, lambda rows: len(rows) == 3 and all(of["learned"] == 5 and of["behind"] == 0 for of in rows) and sum(of["leads"] for of in rows) == 1)
    assert "the page is fine" in node("fleet.mjs", f"http://127.0.0.1:{servers[1].port}", 3, 1, 5)


def test_a_bandit_that_is_known_can_decide(fleet):
    a, b = (server.client() for server in fleet(2))
    for n in range(10):
        a.put(f"/v1/bandits/b{n}", {"dim": 2})
        while (status := b.raw("POST", f"/v1/bandits/b{n}/decide", '{"contexts": [[1, 2], [2, 1]]}')[0]) == 404:
            pass
        assert status == 200


def test_one_event_id_at_two_servers_is_one_decision(fleet, database):
    servers = fleet(2)
    servers[0].client().put("/v1/bandits/b", {"dim": 2, "wait": "10m"})
    everywhere(servers, "/v1/bandits/b", lambda shown: True)
    answers = [{}, {}]

    def ask(i):
        api = servers[i].client()
        for n in range(100):
            answers[i][n] = api.post("/v1/bandits/b/decide", {"contexts": [[1, n], [n, 1]], "event": f"order-{n}"})

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers[0] == answers[1] and len(answers[0]) == 100
    assert database.sql("SELECT count(*) FROM gbose.event") == "100"
    with pytest.raises(Refused) as caught:
        servers[1].client().post("/v1/bandits/b/decide", {"contexts": [[1, 0]], "event": "order-1"})
    assert caught.value.status == 409


def test_the_trainer_moves(fleet):
    servers = fleet(2)
    servers[0].client().put("/v1/bandits/b", {"dim": 2, "wait": "10m"})
    everywhere(servers, "/v1/bandits/b", lambda shown: True)
    learned = 0

    def leader():
        listed = {server["report"]["port"]: server for server in servers[1].client().get("/v1/servers")["servers"]}
        return [port for port, server in listed.items() if any(of["leads"] for of in server["report"]["bandits"])]

    def moves(to):
        """How long it takes until that server, which does not train the bandit yet, has learned something."""
        nonlocal learned
        api, began = to.client(), time.monotonic()
        got = api.post("/v1/bandits/b/decide", {"contexts": [[1, 2], [2, 1]]})
        api.post("/v1/bandits/b/rewards", {"event": got["event"], "reward": 1, "final": True})
        learned += 1
        until(lambda: api.get("/v1/bandits/b"), lambda shown: shown["learned"] == learned)
        return time.monotonic() - began

    (port,) = until(leader, lambda ports: len(ports) == 1)
    first, second = sorted(servers, key=lambda server: server.port != port)
    took = []
    while len(took) < 2 or (min(took) >= 5 and len(took) < 10):  # the machine may be busy with something else
        first.kill()
        took.append(moves(second))
        first.start()
        everywhere([first], "/v1/bandits/b", lambda shown: shown["learned"] == learned)
        first, second = second, first
    assert min(took) < 5, f"the trainer moved in {took} s"
    # And it moves when the server that trains is cut off without a word.
    first.proxy.mode = "swallow"
    cut = moves(second)
    print(f"the trainer moved in {took} s when its server was killed, and in {cut} s when it was cut off")


def test_without_the_database(fleet, database):
    (server,) = fleet(1)
    api = server.client()
    api.put("/v1/bandits/full", {"dim": 2, "wait": "10m"})
    api.put("/v1/bandits/relaxed", {"dim": 2, "wait": "10m", "durability": "relaxed"})
    database.stop(signal.SIGQUIT)
    body = json.dumps({"contexts": [[1, 2], [2, 1]]})
    until(lambda: api.raw("POST", "/v1/bandits/full/decide", body), lambda answer: answer[0] == 503)
    status, data, headers = api.raw("POST", "/v1/bandits/full/decide", body)
    assert status == 503 and headers["Retry-After"] == "1" and json.loads(data)["error"]["code"] == "storage"
    decided = {}
    for _ in range(300):
        status, data, headers = api.raw("POST", "/v1/bandits/relaxed/decide", body)
        assert status == 200 and headers["Gbose-Store"] == "away"
        answer = json.loads(data)
        assert answer["durable"] is False
        decided[answer["event"]] = answer["arm"]
    assert api.raw("GET", "/readyz")[0] == 503
    status, data, _ = api.raw("GET", "/readyz?relaxed")
    assert status == 200 and json.loads(data)["buffered"] == 300
    metrics = api.raw("GET", "/metrics")[1].decode()
    assert "gbose_store_reachable 0" in metrics and "gbose_buffered_changes 300" in metrics
    # What is not known is not shown as 0.
    assert "gbose_events_total{" not in metrics and api.raw("GET", "/v1/bandits/relaxed")[0] == 503
    # The buffer has a bound, and is then honest.
    many = json.dumps([{"contexts": [[1, 2], [2, 1]]}] * 1000)
    kept = 0
    for _ in range(20):
        status, data, _ = api.raw("POST", "/v1/bandits/relaxed/decide", many)
        if status != 200:
            break
        decided.update((answer["event"], answer["arm"]) for answer in json.loads(data))
        kept += 1000
    assert status == 503 and 5000 <= kept <= 16000
    database.start()
    until(lambda: api.raw("GET", "/readyz")[0], lambda status: status == 200)
    until(lambda: api.get("/v1/bandits/relaxed")["counts"]["events"], lambda events: events == len(decided))
    log = {line["id"]: line["arm"] for line in map(json.loads, api.raw("GET", "/v1/bandits/relaxed/log")[1].splitlines())}
    assert log == decided
    assert "gbose_lost_total 0" in api.raw("GET", "/metrics")[1].decode()
    said = Path(server.log).read_text()
    assert "the store cannot be written: the database cannot be reached" in said and "the store can be written again" in said
    # What cannot be stored in the end is said.
    database.stop(signal.SIGQUIT)
    until(lambda: api.raw("POST", "/v1/bandits/full/decide", body)[0], lambda status: status == 503)
    assert api.raw("POST", "/v1/bandits/relaxed/decide", body)[0] == 200
    assert server.stop() == 0
    assert "LOST 1 decisions of bandit 'relaxed'" in Path(server.log).read_text()
    database.start()


def test_readiness_needs_no_requests(fleet, database):
    """Who sends requests only to servers that are ready must hear when one is so again."""
    (server,) = fleet(1)
    api = server.client()
    api.put("/v1/bandits/b", {"dim": 2})

    def ready():
        return api.raw("GET", "/readyz")[0]

    assert ready() == 200
    database.stop(signal.SIGQUIT)
    until(ready, lambda status: status == 503)
    database.start()
    until(ready, lambda status: status == 200)
    server.proxy.mode = "swallow"
    until(ready, lambda status: status == 503)
    assert api.raw("POST", "/v1/bandits/b/decide", json.dumps({"contexts": [[1, 2]]}))[0] == 503
    server.proxy.mode = "open"
    until(ready, lambda status: status == 200)


def version(database, name="postgres"):
    return int(database.sql("SELECT convert_from(value, 'UTF8') FROM gbose.meta WHERE name = 'version'", name))


def set_version(database, number):
    database.sql(f"UPDATE gbose.meta SET value = '{number}' WHERE name = 'version'")


def test_a_store_that_a_newer_gbose_migrated_is_left_alone(fleet, database):
    (server,) = fleet(1)
    present = version(database)
    api = server.client()
    api.put("/v1/bandits/full", {"dim": 2})
    api.put("/v1/bandits/relaxed", {"dim": 2, "durability": "relaxed"})
    set_version(database, present + 1)
    until(lambda: api.raw("GET", "/readyz")[0], lambda status: status == 503)
    body = json.dumps({"contexts": [[1, 2], [2, 1]]})
    status, data, _ = api.raw("POST", "/v1/bandits/full/decide", body)
    assert status == 503 and f"of version {present + 1} by now" in json.loads(data)["error"]["message"]
    assert api.raw("POST", "/v1/bandits/relaxed/decide", body)[0] == 200
    time.sleep(0.5)
    assert database.sql("SELECT count(*) FROM gbose.event") == "0"
    done = subprocess.run([GBOSE, "store", "migrate", database.url], capture_output=True, text=True)
    assert done.returncode == 1 and "use a newer one" in done.stderr
    set_version(database, present)
    until(lambda: database.sql("SELECT count(*) FROM gbose.event"), lambda n: n == "1")
    until(lambda: api.raw("GET", "/readyz")[0], lambda status: status == 200)


def test_a_store_of_an_earlier_version_is_refused_until_it_is_migrated(fleet, database):
    """From one version to the next the tables stay as they are in this case (postgres_schema.c)."""
    (server,) = fleet(1)
    api = server.client()
    api.put("/v1/bandits/b", {"dim": 2})
    event = api.post("/v1/bandits/b/decide", {"contexts": [[1, 2], [2, 1]]})["event"]
    assert server.stop() == 0
    present = version(database)
    set_version(database, present - 1)
    for words in (["serve", "--store", database.url, "--port", "0"], ["log", "check", database.url], ["store", "check", database.url]):
        done = subprocess.run([GBOSE, *words], capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done
        assert f"of version {present - 1}, and this gbose works on {present}: gbose store migrate URL" in done.stderr
    assert gbose("store", "migrate", database.url) == f"brought the store from version {present - 1} to {present}\n"
    assert gbose("store", "migrate", database.url) == f"the store exists and has version {present}: nothing to do\n"
    server.start()
    assert server.client().get(f"/v1/bandits/b/events/{event}?recompute=1")["recomputed"]["same"]
    server.client().post("/v1/bandits/b/rewards", {"event": event, "reward": 1, "final": True})
    gbose("store", "check", database.url)


def test_a_wrong_database_is_one_clear_line(database):
    at = f"127.0.0.1:{database.port}"
    hba = Path(database.dir, "data", "pg_hba.conf")
    hba.write_text("host all locked 127.0.0.1/32 scram-sha-256\n" + hba.read_text())
    for statement in ("SELECT pg_reload_conf()", "CREATE ROLE locked LOGIN PASSWORD 'right'", "CREATE ROLE weak LOGIN"):
        database.sql(statement)
    for statement in ("latin ENCODING LATIN1 TEMPLATE template0", "frozen", "strange", "later", "damaged"):
        database.sql(f"CREATE DATABASE {statement}")
    for name in ("later", "damaged"):
        gbose("store", "init", f"postgresql://gbose@{at}/{name}")
    database.sql("ALTER DATABASE frozen SET default_transaction_read_only = on")
    for name, statement in {
        "strange": "CREATE SCHEMA gbose",
        "later": f"UPDATE gbose.meta SET value = '{version(database, 'later') + 1}' WHERE name = 'version'",
        "damaged": "UPDATE gbose.meta SET value = 'x' WHERE name = 'version'",
    }.items():
        database.sql(statement, name)
    for url, said, code in [
        ("mysql://gbose@127.0.0.1/shop", "postgresql://USER@HOST/DATABASE", 2),
        ("postgresql://gbose:s3cret@[::1/shop", "not the URL of a database", 2),
        (f"postgresql://gbose@{at}/postgres?colour=red", 'parameter: "colour"', 2),
        ("postgresql://gbose@127.0.0.1:5432,127.0.0.1:99999/shop", "must be from 1 to 65535", 2),
        ("postgresql://gbose@127.0.0.1:1/shop", "Connection refused", 1),
        (f"postgresql://gbose@{at}/nowhere", '"nowhere" does not exist', 1),
        (f"postgresql://locked@{at}/postgres", "it wants a password", 1),
        (f"postgresql://locked:s3cret@{at}/postgres", "password authentication failed", 1),
        (f"postgresql://weak@{at}/postgres", "Use the user who owns the store", 1),
        (f"postgresql://gbose@{at}/latin", "make one with UTF8", 2),
        (f"postgresql://gbose@{at}/frozen", "read-only", 1),
        (f"postgresql://gbose@{at}/strange", "is not a store of gbose", 1),
        (f"postgresql://gbose@{at}/later", "use a newer one", 1),
        (f"postgresql://gbose@{at}/damaged", "the store is damaged", 1),
    ]:
        for words in (["store", "init", url], ["serve", "--store", url, "--port", "0"], ["key", "add", url, "--role", "read"]):
            done = subprocess.run([GBOSE, *words], capture_output=True, text=True, timeout=120)
            assert done.returncode == code and said in done.stderr and done.stderr.count("\n") == 1, (words, done)
            assert not done.stdout and "s3cret" not in done.stderr


def test_nginx_in_front_of_three(fleet, tmp_path):
    if not shutil.which("nginx", path="/usr/sbin:/usr/bin"):
        pytest.skip("there is no nginx")
    servers, port = fleet(3), free_port()
    servers[0].client().put("/v1/bandits/b", {"dim": 2, "wait": "10m"})
    everywhere(servers, "/v1/bandits/b", lambda shown: True)
    for name in ("fleet-nginx.conf", "compose-nginx.conf"):
        text = (Path(__file__).parents[2] / "deploy" / name).read_text()
        addresses = re.findall(r"^    server (\S+) max_fails", text, re.M)
        assert len(addresses) == 3
        for address, server in zip(addresses, servers):
            text = text.replace(address, f"127.0.0.1:{server.port}")
        text = re.sub(r"    (ssl_certificate|server_name).*\n", "", re.sub(r"listen .*;", f"listen 127.0.0.1:{port};", text))
        (tmp_path / "site.conf").write_text(text)
        temporary = "".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (tmp_path / "nginx.conf").write_text(
            ("user root;" if os.getuid() == 0 else "") + f"daemon off; pid {tmp_path}/pid; error_log stderr; events {{}}"
            f" http {{ access_log off; {temporary} include {tmp_path}/site.conf; }}"
        )
        nginx = subprocess.Popen(["nginx", "-p", str(tmp_path), "-e", "stderr", "-c", str(tmp_path / "nginx.conf")], env={**os.environ, "PATH": "/usr/sbin:/usr/bin"}, stderr=subprocess.DEVNULL)
        try:
            api = Client(port)

            def decide():
                try:
                    return api.raw("POST", "/v1/bandits/b/decide", json.dumps({"contexts": [[1, 2], [2, 1]]}))[0]
                except OSError:
                    return 0

            until(decide, lambda status: status == 200)
            if name == "fleet-nginx.conf":
                servers[0].kill()
            assert [decide() for _ in range(60)].count(200) >= 58  # one that was under way may be lost
        finally:
            nginx.terminate()
            nginx.wait(20)


def test_the_commands_of_the_compose_file(database, tmp_path):
    text = (Path(__file__).parents[2] / "deploy" / "compose.yaml").read_text()
    key = re.search(r"server1 (key add .*)", text)[1].split()
    serve = json.loads(re.search(r'command: (\["serve".*\])', text)[1])
    here = [[word.replace("postgresql://gbose@database/gbose", database.url) for word in words] for words in (key, serve)]
    assert here[0] != key and here[1] != serve
    server = Server(tmp_path / "server")
    server.words = lambda port: [*here[1], "--port", str(port)]
    with pytest.raises(RuntimeError, match="key"):  # which it needs, since it listens to everybody
        server.start()
    api_key = gbose(*here[0]).strip()
    server.start()
    assert server.client().raw("GET", "/v1/bandits")[0] == 401
    assert server.client(key=api_key).get("/v1/bandits") == {"bandits": []}
    assert server.stop() == 0


def test_a_password_is_not_seen(database, tmp_path):
    server = FleetServer(database, tmp_path / "server")
    server.url = server.url.replace("gbose@", "gbose:s3cret@")
    server.start()
    assert "s3cret" not in Path(f"/proc/{server.process.pid}/cmdline").read_text()
    assert server.client().put("/v1/bandits/b", {"dim": 2})
    assert server.stop() == 0
    assert "s3cret" not in Path(server.log).read_text()
    server.proxy.close()


# ---- everything at once ------------------------------------------------------------------------------------------------


class Driver(threading.Thread):
    """Decides and rewards at any server, and remembers what was acknowledged."""

    def __init__(self, servers, seed):
        super().__init__(daemon=True)
        self.servers, self.rng = servers, random.Random(seed)
        self.decided, self.rewarded, self.asked = {}, {}, {}
        self.refused = self.broken = 0
        self.stopping, self.unexpected = False, None
        self.apis = {}

    def api(self):
        server = self.rng.choice(self.servers)
        if server.port not in self.apis:
            self.apis[server.port] = Client(server.port, timeout=15)
        return self.apis[server.port]

    def turn(self):
        rng = self.rng
        body = {"contexts": [[rng.gauss(0, 1) for _ in range(3)] for _ in range(3)]}
        if rng.random() < 0.4:
            body["event"] = f"mine-{rng.random()}"
            self.asked[body["event"]] = body
        elif self.asked and rng.random() < 0.2:  # ask again, perhaps elsewhere, perhaps after an error
            body = self.asked[rng.choice(list(self.asked))]
        got = self.api().post("/v1/bandits/b/decide", body)
        name, answer = got["event"], (got["arm"], got["pmf"])
        if self.decided.setdefault(name, answer) != answer:
            self.unexpected = f"{name} was decided twice: {self.decided[name]} and {answer}"
        if name not in self.rewarded and rng.random() < 0.7:
            value = rng.gauss(0, 1)
            final = rng.random() < 0.8
            for _ in range(3):  # a reward may be sent again: it counts once
                try:
                    self.api().post("/v1/bandits/b/rewards", {"event": name, "reward": value, "final": final})
                    self.rewarded[name] = value
                    return
                except Refused as refused:
                    if refused.status == 409:  # of an attempt that was not acknowledged, with another value
                        return
                    if refused.status != 503:
                        raise
                    self.refused += 1
                    time.sleep(0.05)

    def run(self):
        while not self.stopping and not self.unexpected:
            try:
                self.turn()
            except Refused as refused:
                self.refused += 1
                if refused.status != 503:
                    self.unexpected = refused
                time.sleep(0.02)
            except Exception as error:
                if not isinstance(error, OSError) and "http.client" not in type(error).__module__:
                    self.unexpected = error
                self.broken += 1
                time.sleep(0.02)


def fault(kind, servers, database, rng):
    """Something breaks, and is mended."""
    server = rng.choice(servers)
    if kind == "kill":
        server.kill()
        time.sleep(rng.uniform(0, 0.3))
        server.start(server.port)
    elif kind == "kill the trainer":  # in the middle of a snapshot: the tables are locked until it waits for them
        locks = subprocess.Popen([f"{database.bin}/psql", "-qX", database.url], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
        locks.stdin.write("BEGIN; LOCK TABLE gbose.snapshot, gbose.live IN EXCLUSIVE MODE;\n")
        locks.stdin.flush()
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IN ('gbose.live'::regclass, 'gbose.snapshot'::regclass)"
        deadline = time.monotonic() + 2
        while database.sql(waits) == "0" and time.monotonic() < deadline:
            time.sleep(0.05)
        found = server
        try:
            for one in servers[0].client(timeout=5).get("/v1/servers")["servers"]:
                if any(of["leads"] for of in one["report"]["bandits"]):
                    found = next((s for s in servers if s.port == one["report"]["port"]), server)
        except (OSError, Refused):
            pass
        found.kill()
        locks.kill()
        locks.wait()
        found.start(found.port)
    elif kind == "restart the database":
        database.stop(signal.SIGQUIT)
        time.sleep(rng.uniform(0, 0.3))
        database.start()
    elif kind == "cut":
        server.proxy.cut()
        time.sleep(rng.uniform(0.05, 0.6))
        server.proxy.mode = "open"
    elif kind == "swallow":
        server.proxy.mode = "swallow"
        time.sleep(rng.uniform(0.3, 2.5))
        if rng.random() < 0.5:
            server.proxy.cut()
        server.proxy.mode = "open"


def check(servers, decided, rewarded):
    """Everything that was acknowledged is there, once; and all servers come to know all of it."""
    api = servers[0].client(timeout=60)
    lines = [json.loads(line) for line in api.raw("GET", "/v1/bandits/b/log")[1].splitlines()]
    log = {line["id"]: line for line in lines}
    assert len(log) == len(lines), "an event is there twice"
    assert len({line["n"] for line in lines}) == len(lines), "a number was used twice"
    for event, (arm, pmf) in decided.items():
        assert event in log, f"acknowledged decision {event} is lost"
        assert (log[event]["arm"], log[event]["pmf"]) == (arm, pmf)
    for event, value in rewarded.items():
        line = log[event]
        if line["why"] is None:
            assert value in [r["reward"] for r in api.get(f"/v1/bandits/b/events/{event}")["rewards"]], f"reward of {event} is lost"
        else:
            assert line["r"] == value and line["why"] == "reward", f"reward of {event} is lost: {line}"
    closed = sum(line["why"] is not None for line in lines)
    for server in servers:
        shown = until(lambda: server.client().get("/v1/bandits/b"), lambda b: b["learned"] == b["counts"]["outcomes"] >= closed)
    assert shown["counts"]["events"] == len(lines)
    assert shown["counts"]["pending"] == len(lines) - shown["counts"]["outcomes"]
    return shown["counts"]


def test_everything_dies(fleet, database):
    rng = random.Random(11)
    servers = fleet(3)
    servers[0].client().put("/v1/bandits/b", {"spec": "gbose-auto", "dim": 3, "wait": "10m"})
    everywhere(servers, "/v1/bandits/b", lambda shown: True)
    drivers = [Driver(servers, 100 + i) for i in range(CONNECTIONS)]
    for driver in drivers:
        driver.start()
    kinds = ["kill", "restart the database", "cut", "kill the trainer", "swallow"]
    for i in range(FAULTS):
        time.sleep(rng.uniform(0.1, 0.7))
        fault(kinds[i % len(kinds)], servers, database, rng)
        assert not any(driver.unexpected for driver in drivers), [driver.unexpected for driver in drivers if driver.unexpected]
        if i % 20 == 19:  # a new generation learns the whole log meanwhile
            try:
                servers[0].client().post("/v1/bandits/b/generations", {"spec": rng.choice(["gbose", "gbose-auto"]), "activate": True})
            except (Refused, OSError):
                pass
    until(lambda: sum(len(driver.rewarded) for driver in drivers), lambda n: n > 30 * FAULTS)
    decided, rewarded = {}, {}
    for driver in drivers:
        driver.stopping = True
    for driver in drivers:
        driver.join(60)
        assert driver.unexpected is None, driver.unexpected
        assert not set(driver.decided) & set(decided)
        decided.update(driver.decided)
        rewarded.update(driver.rewarded)
    for server in servers:
        until(lambda: server.client().raw("GET", "/readyz")[0], lambda status: status == 200)
    counts = check(servers, decided, rewarded)
    said = gbose("rebuild", database.url)
    assert "published after" in said and said.count("the same bytes") == len(said.splitlines()), said
    gbose("store", "check", database.url)
    assert counts["outcomes"] > 20 * FAULTS
    refused, broken = sum(d.refused for d in drivers), sum(d.broken for d in drivers)
    print(f"{FAULTS} faults, {counts['events']} events, {len(decided)} acknowledged, {len(rewarded)} rewards, {refused} refused, {broken} broken")
    for server in servers:
        assert server.stop() == 0
