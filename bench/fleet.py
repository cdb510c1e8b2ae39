"""Three servers on one PostgreSQL, beside COPY of the same rows into the same kind of table: ./run bench fleet [SECONDS]

All of it in one run, in turn, on this machine: PostgreSQL with fsync and synchronous_commit on, three servers with one thread each, wrk as the load
(one for each server), and for the comparison three psql that COPY the rows which the servers have written, in files of 1 to 1000 rows, a commit each,
into a table that was emptied; besides COPY of events with their rows of `pending`, and COPY into a table beside those of earlier turns, which is what the
servers do. Everything begins with a checkpoint, and with log files that the database has used before, so that nobody pays for what others have left to be
written, or for the first use of a file. Decisions have 10 arms with 18 features. A group is what a server writes by one commit. Processor times are those of
all processes of a kind. "Alone" is the database's for a row of COPY beside that for an event: the share of COPY that it would carry if servers and load had
machines of their own.
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
sys.path.insert(0, os.path.join(TOP, "scripts"))
from postgres import Postgres  # noqa: E402

GBOSE = os.path.join(TOP, "build", "release", "gbose")
ARMS, FEATURES, SERVERS, TURNS = 10, 18, 3, 3
USED_LOG = 1 << 30  # bytes of the database's log, more than one run writes
SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 4
# Connections to each server, and decisions in one request.
LOADS = [(1, 1), (16, 1), (64, 1), (256, 1), (8, 20), (32, 20), (8, 100)]
# Rows a commit, with those of `pending` or without, into a table that was emptied or not.
COPIES = [(1, "events", "emptied"), (10, "events", "emptied"), (100, "events", "emptied"), (1000, "events", "emptied"), (1000, "both", "emptied"), (1000, "events", "growing")]


def contexts(rng):
    return {"contexts": [[round(rng.gauss(0, 1), 6) for _ in range(FEATURES)] for _ in range(ARMS)]}


def call(port, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    return json.load(urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method, data=data)))


def metrics(port):
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.e+]+)$", text, re.M)}


def cpu(processes):
    """Seconds of processor time by process."""
    used = {}
    for pid in processes:
        try:
            with open(f"/proc/{pid}/stat") as text:
                fields = text.read().rsplit(")", 1)[1].split()
            used[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except FileNotFoundError:
            pass
    return used


def spent(database):
    """Seconds of processor time of all processes of the database, those that have ended, too."""
    living = subprocess.run(["pgrep", "-P", str(database.process.pid)], capture_output=True, text=True).stdout.split()
    with open(f"/proc/{database.process.pid}/stat") as text:
        fields = text.read().rsplit(")", 1)[1].split()
    return sum(cpu(living).values()) + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def clients():
    """Seconds of processor time of processes that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Server:
    def __init__(self, url, work, i):
        self.log = os.path.join(work, f"server{i}.log")
        self.process = subprocess.Popen(["setpriv", "--pdeathsig=KILL", "--", GBOSE, "serve", "--store", url, "--port", "0", "--threads", "1"], stderr=open(self.log, "w"))
        for _ in range(600):
            found = re.search(r"http://\S+:(\d+)/", open(self.log).read())
            if found:
                self.port = int(found[1])
                return
            time.sleep(0.05)
        sys.exit(f"bench: {open(self.log).read()}")


def train(port):
    rng = random.Random(2)
    for _ in range(4):
        asked = [contexts(rng) for _ in range(500)]
        got = call(port, "POST", "/v1/bandits/b/decide", asked)
        call(port, "POST", "/v1/bandits/b/rewards", [{"event": d["event"], "reward": a["contexts"][d["arm"]][0], "final": True} for a, d in zip(asked, got)])


def load(servers, database, work, connections, batch):
    """Events a second of all servers, changes in a commit, processor us of load, servers and database for an event, median ms."""
    script = os.path.join(work, f"post{batch}.lua")
    body = contexts(random.Random(1))
    with open(script, "w") as out:
        text = json.dumps(body if batch == 1 else [body] * batch, separators=(",", ":"))
        out.write(f"wrk.method = 'POST'\nwrk.body = '{text}'\nwrk.headers['Content-Type'] = 'application/json'\n")
    database.sql("CHECKPOINT")
    before, used, theirs, its = [metrics(s.port) for s in servers], cpu([s.process.pid for s in servers]), spent(database), clients()
    began = time.monotonic()
    running = [
        subprocess.Popen(
            ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--latency", "--timeout", "20s", "-s", script, f"http://127.0.0.1:{s.port}/v1/bandits/b/decide"],
            stdout=subprocess.PIPE, text=True,
        )
        for s in servers
    ]
    said = [process.communicate()[0] for process in running]
    took, its = time.monotonic() - began, clients() - its
    if any(re.search(r"Non-2xx|Socket errors", text) for text in said):
        sys.exit(f"bench: {said}")
    unit = {"us": 1e-3, "ms": 1, "s": 1e3}
    half = statistics.median(float(v) * unit[u] for text in said for v, u in re.findall(r"^ +50% +([\d.]+)(us|ms|s)$", text, re.M))
    after = [metrics(s.port) for s in servers]
    grown = lambda name: sum(b[name] - a[name] for a, b in zip(before, after))  # noqa: E731
    events = grown("gbose_decisions_total")
    return (
        events / took,
        grown("gbose_changes_total") / grown("gbose_commits_total"),
        its / events * 1e6,
        sum(now - used[pid] for pid, now in cpu([s.process.pid for s in servers]).items()) / events * 1e6,
        (spent(database) - theirs) / events * 1e6,
        half,
    )


def make_table(database, name):
    """A table like that of the events, with the partition of today."""
    day = database.sql("SELECT max(day) FROM gbose.event")
    database.sql(
        f"CREATE TABLE copy.{name} (LIKE gbose.event) PARTITION BY LIST (day); ALTER TABLE copy.{name} ADD PRIMARY KEY (key, day);"
        f"CREATE INDEX ON copy.{name} (unit) WHERE unit IS NOT NULL; CREATE TABLE copy.{name}_today PARTITION OF copy.{name} FOR VALUES IN ({day})"
    )


def prepare_copy(database, work):
    """Tables like those of the servers, and files of their rows: for each size, names of files of events and of `pending`."""
    database.sql(
        "CREATE SCHEMA copy; CREATE TABLE copy.pending (LIKE gbose.pending); ALTER TABLE copy.pending ADD PRIMARY KEY (last);"
        "CREATE INDEX ON copy.pending (bandit, deadline); CREATE TABLE copy.rows AS SELECT row_number() OVER (ORDER BY key) - 1 AS n, *"
        " FROM gbose.event WHERE day = (SELECT max(day) FROM gbose.event); CREATE INDEX ON copy.rows (n)"
    )
    make_table(database, "event")
    names = "day, key, name, time, deadline, generation, learned, flags, arm, pmf, shadow, unit, body, sum"
    there = int(database.sql("SELECT count(*) FROM copy.rows"))
    files = {}
    for size in dict.fromkeys(size for size, _, _ in COPIES):
        files[size], words = [], []
        for i in range(min(there // size, SERVERS * {1: 600, 10: 400, 100: 150, 1000: 60}[size])):
            these = f"FROM copy.rows WHERE n >= {i * size} AND n < {(i + 1) * size}"
            path = os.path.join(work, f"{size}-{i}")
            files[size].append(path)
            words += ["-c", f"\\copy (SELECT {names} {these}) TO '{path}.event' (FORMAT binary)"]
            if size == 1000:
                runs = f"SELECT * FROM gbose.pending WHERE last BETWEEN (SELECT min(key) {these}) AND (SELECT max(key) {these})"
                words += ["-c", f"\\copy ({runs}) TO '{path}.pending' (FORMAT binary)"]
        subprocess.run([f"{database.bin}/psql", "-qX", database.url, *words], check=True)
    return files


def copy(database, files, turn, size, rows, table):
    """Rows of events a second by three psql, a commit for each file; and processor us of psql and of the database for a row."""
    into = "event" if table == "emptied" else f"event{turn}"
    if table == "emptied":
        database.sql("TRUNCATE copy.event, copy.pending")
    else:
        make_table(database, into)
    database.sql("CHECKPOINT")
    time.sleep(0.2)
    used, its = spent(database), clients()
    words = {
        "events": lambda path: ["-c", f"\\copy copy.{into} FROM '{path}.event' (FORMAT binary)"],
        "both": lambda path: ["-c", "BEGIN", *words["events"](path), "-c", f"\\copy copy.pending FROM '{path}.pending' (FORMAT binary)", "-c", "COMMIT"],
    }
    share = [[word for path in files[i::SERVERS] for word in words[rows](path)] for i in range(SERVERS)]
    began = time.monotonic()
    running = [subprocess.Popen([f"{database.bin}/psql", "-qX", database.url, *words]) for words in share]
    if any(process.wait() for process in running):
        sys.exit("bench: COPY failed")
    took, its = time.monotonic() - began, clients() - its
    time.sleep(0.2)  # until the sessions have ended
    n = len(files) * size
    return n / took, its / n * 1e6, (spent(database) - used) / n * 1e6


def main():
    if not shutil.which("wrk"):
        sys.exit("bench: wrk was not found (Debian and Ubuntu: wrk)")
    work = tempfile.mkdtemp(dir=os.environ.get("GBOSE_BENCH_DIR", os.path.join(TOP, "build")))
    os.chmod(work, 0o755)
    os.mkdir(os.path.join(work, "postgres"))
    servers = []
    try:
        with Postgres(os.path.join(work, "postgres"), fsync="on", shared_buffers="256MB", max_wal_size="4GB", min_wal_size="4GB") as database:
            try:
                servers = [Server(database.url, work, i) for i in range(SERVERS)]
                call(servers[0].port, "PUT", "/v1/bandits/b", {"dim": FEATURES, "spec": "gbose-auto", "wait": "1h"})
                time.sleep(1)
                train(servers[0].port)
                time.sleep(2)
                while int(database.sql("SELECT pg_current_wal_lsn() - '0/0'")) < USED_LOG:  # and rows for the comparison
                    load(servers, database, work, 8, 100)
                files = prepare_copy(database, work)
                print(f"{SERVERS} servers, {ARMS} arms x {FEATURES} features, {SECONDS} s x {TURNS}, medians")
                runs = {key: [] for key in [*LOADS, *COPIES]}
                for turn in range(TURNS):
                    for one in COPIES:
                        runs[one].append(copy(database, files[one[0]], turn, *one))
                    for one in LOADS:
                        runs[one].append(load(servers, database, work, *one))
                result = {one: [statistics.median(column) for column in zip(*runs[one])] for one in runs}
                best, least = max(result[one][0] for one in COPIES), min(result[one][2] for one in COPIES)
                print(f"\n{'COPY: rows a commit':>42} {'rows/s':>8} {'psql us':>8} {'database us':>11}")
                for size, rows, table in COPIES:
                    rate, its, theirs = result[size, rows, table]
                    print(f"{f'{size} of {rows}, table {table}':>42} {rate:>8.0f} {its:>8.1f} {theirs:>11.1f}")
                print(
                    f"\n{'connections x decisions':>24} {'events/s':>8} {'of COPY':>8} {'growing':>8} {'a commit':>9} {'load us':>8}"
                    f" {'servers us':>10} {'database us':>11} {'alone':>6} {'median ms':>10}"
                )
                for connections, batch in LOADS:
                    rate, group, its, ours, theirs, half = result[connections, batch]
                    print(
                        f"{f'{SERVERS} x {connections} x {batch}':>24} {rate:>8.0f} {rate / best:>8.0%} {rate / result[COPIES[-1]][0]:>8.0%} {group:>9.1f} {its:>8.1f}"
                        f" {ours:>10.1f} {theirs:>11.1f} {least / theirs:>6.0%} {half:>10.1f}"
                    )
            finally:
                for server in servers:
                    server.process.terminate()
                for server in servers:
                    server.process.wait()
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
