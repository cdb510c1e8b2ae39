"""The service under load, beside bare libmicrohttpd that echoes the same bodies: ./run bench serve [SECONDS]

All of it in one run, in turn, so that noise hits all alike: requests of 10 arms with 18 features, by wrk, on this machine. Ratios are
what to read; requests a second depend on the machine, its disk and what else it does. CPU us is processor time of the server for a request,
wrk us that of the client, which has one thread: what comes near to a million divided by it is bound by the client.
"""

import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BUILD = os.path.join(TOP, "build", "release")
ARMS, FEATURES = 10, 18
CONNECTIONS = [64, 256]
TURNS = 3
SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 4


def body():
    rng = random.Random(1)
    return json.dumps({"contexts": [[round(rng.gauss(0, 1), 6) for _ in range(FEATURES)] for _ in range(ARMS)]}, separators=(",", ":"))


def load(port, path, script, connections):
    """Requests a second, median and 99th percentile in ms, and microseconds of wrk's processor time for a request."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--latency", "-s", script, f"http://127.0.0.1:{port}{path}"],
        capture_output=True, text=True, check=True,
    ).stdout
    if re.search(r"Non-2xx|Socket errors", said):
        sys.exit(f"bench: {said}")
    unit = {"us": 1e-3, "ms": 1, "s": 1e3}
    time_of = {p: float(v) * unit[u] for p, v, u in re.findall(r"^ +(50|99)% +([\d.]+)(us|ms|s) *$", said, re.M)}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rate = float(re.search(r"Requests/sec: +([\d.]+)", said)[1])
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return rate, time_of["50"], time_of["99"], used / (rate * SECONDS) * 1e6


def cpu(process):
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{process.pid}/stat") as text:
        fields = text.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(port):
    for _ in range(200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1).read()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("bench: the server did not start")


def call(port, method, path, text):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method, data=text.encode())
    return json.load(urllib.request.urlopen(request))


def train(port, name, rounds=5000):
    """A learner that has seen something, as in real use: 5,000 rewards."""
    rng = random.Random(2)
    for _ in range(rounds // 500):
        asked = [{"contexts": [[round(rng.gauss(0, 1), 4) for _ in range(FEATURES)] for _ in range(ARMS)]} for _ in range(500)]
        got = call(port, "POST", f"/v1/bandits/{name}/decide", json.dumps(asked))
        told = [{"event": d["event"], "reward": a["contexts"][d["arm"]][0] + rng.gauss(0, 0.1), "final": True} for a, d in zip(asked, got)]
        call(port, "POST", f"/v1/bandits/{name}/rewards", json.dumps(told))
    while call(port, "GET", f"/v1/bandits/{name}", "")["learned"] < rounds:
        time.sleep(0.1)


def main():
    if not shutil.which("wrk"):
        sys.exit("bench: wrk was not found (Debian and Ubuntu: wrk)")
    work = tempfile.mkdtemp(dir=os.environ.get("GBOSE_BENCH_DIR", os.path.join(TOP, "build")))
    script = os.path.join(work, "post.lua")
    with open(script, "w") as out:
        out.write(f"wrk.method = 'POST'\nwrk.body = '{body()}'\nwrk.headers['Content-Type'] = 'application/json'\n")
    threads = str(os.cpu_count() or 2)
    echo = subprocess.Popen([os.path.join(BUILD, "bench", "gbose_bench_echo"), "8801", threads])
    serve = subprocess.Popen(
        [os.path.join(BUILD, "gbose"), "serve", "--data", os.path.join(work, "data"), "--port", "8802", "--threads", threads],
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(8801)
        wait_for(8802)
        for name in ("full", "relaxed"):
            call(8802, "PUT", f"/v1/bandits/{name}", json.dumps({"dim": FEATURES, "spec": "gbose-auto", "durability": name, "wait": "1h"}))
            train(8802, name)
        contenders = [
            ("echo", echo, 8801, "/"),
            ("durable", serve, 8802, "/v1/bandits/full/decide"),
            ("relaxed", serve, 8802, "/v1/bandits/relaxed/decide"),
        ]
        print(f"POST of {len(body())} bytes, {ARMS} arms x {FEATURES} features, {SECONDS} s x {TURNS}, {threads} threads, wrk on the same cores")
        print(f"{'connections':>11} {'':10} {'requests/s':>10} {'of echo':>8} {'CPU us':>7} {'wrk us':>7} {'median ms':>10} {'p99 ms':>8} {'p99/median':>10}")
        for connections in CONNECTIONS:
            runs = {name: [] for name, *_ in contenders}
            for _ in range(TURNS):
                for name, process, port, path in contenders:
                    before = cpu(process)
                    got = load(port, path, script, connections)
                    runs[name].append((*got, (cpu(process) - before) / (got[0] * SECONDS) * 1e6))
                    time.sleep(0.5)
            base = statistics.median(r[0] for r in runs["echo"])
            for name, *_ in contenders:
                rate, half, most, client, used = (statistics.median(r[i] for r in runs[name]) for i in range(5))
                print(f"{connections:>11} {name:10} {rate:>10.0f} {rate / base:>8.0%} {used:>7.1f} {client:>7.1f} {half:>10.2f} {most:>8.2f} {most / half:>10.1f}")
        with open(f"/proc/{serve.pid}/statm") as text:
            print(f"resident memory of the service at the end: {int(text.read().split()[1]) * 4 / 1024:.0f} MB")
    finally:
        echo.terminate()
        serve.terminate()
        serve.wait()
        echo.wait()
        shutil.rmtree(work)


main()
