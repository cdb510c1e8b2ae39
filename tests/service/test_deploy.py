"""What is in deploy/ and examples/, put to work: nginx, systemd's opinion, the dashboard, the page with three headlines."""

import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from server import GBOSE, Server, gbose, until
from test_api import TWO, make, play
from test_page import CHROMIUM, node, needs_node

TOP = Path(__file__).parent.parent.parent


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture
def nginx(server, tmp_path):
    """deploy/nginx.conf with other ports, files and names, and nothing else; the port that it listens on."""
    if not shutil.which("nginx", path="/usr/sbin:/usr/bin"):
        pytest.skip("there is no nginx")
    port = free_port()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"],
        check=True, capture_output=True,
    )
    pages = tmp_path / "pages"
    pages.mkdir(mode=0o755)
    shutil.copy(TOP / "examples" / "headlines.html", pages)
    text = (TOP / "deploy" / "nginx.conf").read_text()
    for old, new in (
        ("127.0.0.1:8790", f"127.0.0.1:{server.port}"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("decisions.example.org", "localhost"),
        ("/etc/ssl/certs/decisions.pem", str(tmp_path / "cert.pem")),
        ("/etc/ssl/private/decisions.key", str(tmp_path / "key.pem")),
        ("/srv/pages/", f"{pages}/"),
    ):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "site.conf").write_text(text)
    temporary = "".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (tmp_path / "nginx.conf").write_text(
        ("user root;" if os.getuid() == 0 else "") + f"daemon off; pid {tmp_path}/pid; error_log stderr; events {{}}"
        f" http {{ types {{ text/html html; }} access_log off; {temporary} include {tmp_path}/site.conf; }}"
    )
    words = ["nginx", "-p", str(tmp_path), "-e", "stderr", "-c", str(tmp_path / "nginx.conf")]
    env = {**os.environ, "PATH": "/usr/sbin:" + os.environ["PATH"]}
    tested = subprocess.run([*words, "-t"], capture_output=True, text=True, env=env)
    assert tested.returncode == 0 and "warn" not in tested.stderr, tested.stderr
    process = subprocess.Popen(words, env=env)
    context = ssl.create_default_context(cafile=tmp_path / "cert.pem")

    def call(method, path, body=None, headers={}):
        connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=20)
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    deadline = time.monotonic() + 120
    while True:
        try:
            call("GET", "/healthz")
            break
        except ConnectionError:
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
    call.port = port
    yield call
    process.terminate()
    process.wait(20)


def test_nginx_in_front(server, nginx):
    key = gbose("key", "add", server.data, "--role", "admin").strip()
    until(lambda: nginx("GET", "/v1/bandits")[0], lambda status: status == 401)
    auth = {"Authorization": f"Bearer {key}"}
    assert nginx("PUT", "/v1/bandits/news", {"spec": "gbose", "dim": 3, "wait": "1h"}, auth)[0] == 201
    names = ["a/b", "ä %2F?"]
    for name in names:
        assert json.loads(nginx("POST", "/v1/bandits/news/decide", {"contexts": TWO, "event": name}, auth)[1])["event"] == name
        assert json.loads(nginx("GET", f"/v1/bandits/news/events/{quote(name, safe='')}", headers=auth)[1])["id"] == name
    many = [{"contexts": TWO}] * 1000
    for _ in range(3):
        assert nginx("POST", "/v1/bandits/news/decide", many, auth)[0] == 200
    status, log = nginx("GET", "/v1/bandits/news/log", headers=auth)
    assert status == 200 and len(log.splitlines()) == 3002
    assert nginx("POST", "/v1/bandits/news/decide", {"contexts": TWO, "event": "x" * 5_000_000}, auth)[0] == 413
    assert b"<!doctype html>" in nginx("GET", "/")[1]


@needs_node
@pytest.mark.skipif(not os.path.exists(CHROMIUM), reason="there is no Chromium")
def test_three_headlines(server, api, nginx):
    text = (TOP / "examples" / "headlines.html").read_text()
    made = re.search(r"-d '(\{.*\})' *$", text, re.M)[1]  # as its own words say
    assert api.raw("PUT", "/v1/bandits/headlines", made)[0] == 201
    assert "the headlines are fine" in node("headlines.mjs", f"https://localhost:{nginx.port}/pages/headlines.html")
    api = server.client()  # a connection that was idle for so long is closed
    counts = api.get("/v1/bandits/headlines")["counts"]
    assert counts["events"] == 6 and counts["rewards"] == 3
    devices = {e["user"]["device"] for e in api.get("/v1/bandits/headlines/events?last=20")["events"]}
    assert devices == {"phone", "desk"}


def test_systemd_understands_the_unit(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    text = (TOP / "deploy" / "gbose.service").read_text()
    assert "/usr/local/bin/gbose " in text
    unit = tmp_path / "gbose.service"
    unit.write_text(text.replace("/usr/local/bin/gbose ", GBOSE + " "))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "gbose" in line]
    assert not ours, ours
    words = re.search(r"^ExecStart=\S+ (.*)$", text, re.M)[1].split()
    data = tmp_path / "data"
    words = [str(data) if w == "/var/lib/gbose" else "0" if w == "8790" else w for w in words]
    process = subprocess.Popen([GBOSE, *words], stderr=subprocess.PIPE, text=True)
    assert "http://127.0.0.1:" in process.stderr.readline()
    process.terminate()
    assert process.wait(30) == 0


def test_the_dashboard_shows_what_there_is(server, api):
    dashboard = json.loads((TOP / "deploy" / "grafana.json").read_text())
    make(api)
    play(api, 100)
    there = {line.split("{")[0].split(" ")[0] for line in api.get("/metrics").splitlines() if not line.startswith("#")}
    labels = {m for line in api.get("/metrics").splitlines() for m in re.findall(r'(\w+)="', line)} | {"bandit", "le"}
    seen, places = set(), []
    for panel in dashboard["panels"]:
        assert panel["title"] and panel["targets"], panel
        at = panel["gridPos"]
        places.append((at["x"], at["y"], at["x"] + at["w"], at["y"] + at["h"]))
        for target in panel["targets"]:
            names = set(re.findall(r"\bgbose_\w+", target["expr"]))
            assert names and names <= there, (panel["title"], names - there)
            assert set(re.findall(r"(\w+)=~?\"", target["expr"])) <= labels
            assert target["expr"].count("(") == target["expr"].count(")")
            seen |= names
    for variable in dashboard["templating"]["list"]:
        assert set(re.findall(r"\bgbose_\w+", variable["query"])) <= there
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    for i, a in enumerate(places):
        for b in places[:i]:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], "panels overlap"
    assert len(seen) >= 8


def test_the_container_file_has_what_it_needs():
    """Its packages are those that scripts/setup.sh builds with, and the libraries that the program is linked to."""
    text = (TOP / "deploy" / "Containerfile").read_text()
    setup = (TOP / "scripts" / "setup.sh").read_text()
    always = setup[: setup.index("if for_any")]
    for package in re.findall(r"^need (\S+) ", always, re.M):
        assert re.search(rf"\b{re.escape(package)}\b", text), package
    linked = subprocess.run(["ldd", GBOSE], capture_output=True, text=True).stdout
    for library, package in (("libsqlite3", "libsqlite3-0"), ("libsodium", "libsodium23"),
                             ("libjansson", "libjansson4"), ("libpq", "libpq5"), ("libz", "zlib1g")):
        assert (library + ".so" in linked) == (package in text), package
    assert re.search(r"npm=\((uplot@[\d.]+)\)", setup)[1] in text
