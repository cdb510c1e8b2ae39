"""A real `gbose serve` on a port of its own, and a plain client of it: standard library only."""

import http.client
import json
import os
import re
import resource
import signal
import subprocess
import threading
import time

GBOSE = os.environ.get("GBOSE", "gbose")


def sanitized():
    """Was the program built with the address sanitizer?"""
    with open(GBOSE, "rb") as program:
        return b"__asan_init" in program.read()


class Refused(Exception):
    """An answer with an error: its status and its body."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body
        self.error = body.get("error", {}) if isinstance(body, dict) else {}


class Client:
    """One connection, kept open; a new one after it broke."""

    def __init__(self, port, key=None, timeout=60):
        self.port, self.key, self.timeout = port, key, timeout
        self.connection = None

    def raw(self, method, path, body=None, headers=None):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        headers = dict(headers or {})
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            self.connection.request(method, path, body=body, headers=headers)
            answer = self.connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())
        except Exception:
            self.close()
            raise

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def call(self, method, path, body=None):
        status, data, _ = self.raw(method, path, None if body is None else json.dumps(body))
        try:
            data = json.loads(data) if data else None
        except ValueError:
            data = data.decode()
        if status >= 400:
            raise Refused(status, data)
        return data

    def get(self, path):
        return self.call("GET", path)

    def put(self, path, body):
        return self.call("PUT", path, body)

    def post(self, path, body):
        return self.call("POST", path, body)

    def delete(self, path):
        return self.call("DELETE", path)


class Server:
    def __init__(self, data, *options, env=None, file_limit=None):
        self.data, self.options, self.env, self.file_limit = str(data), options, env, file_limit
        self.process = None
        self.log = str(data) + ".log"

    def words(self, port):
        return ["serve", "--data", self.data, "--port", str(port), *self.options]

    def start(self, port=0):
        def limit():
            if self.file_limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (self.file_limit, self.file_limit))

        self.errors = open(self.log, "a+")
        self.errors.seek(0, os.SEEK_END)
        begin = self.errors.tell()
        # It ends with this process, even if that is killed: with the thread that started it, to be exact.
        bound = ["setpriv", "--pdeathsig=KILL", "--"] if threading.current_thread() is threading.main_thread() else []
        self.process = subprocess.Popen(
            [*bound, GBOSE, *self.words(port)],
            stderr=self.errors,
            env={**os.environ, **(self.env or {})},
            preexec_fn=limit,
        )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with open(self.log) as text:
                text.seek(begin)
                said = text.read()
            found = re.search(r"http://\S+:(\d+)/", said)
            if found:
                self.port = int(found[1])
                return self
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode}: {said}")
            time.sleep(0.01)
        raise RuntimeError("the server did not start")

    def client(self, **options):
        return Client(self.port, **options)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.errors.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(120)
        self.errors.close()
        return code

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/statm") as text:
            return int(text.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def gbose(*words, check=True):
    """Run another command of gbose; its output."""
    done = subprocess.run([GBOSE, *map(str, words)], capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{words}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def until(ask, good):
    """Ask again and again until the answer is good. Two minutes are no promise: they are what tells "never" from a busy machine."""
    deadline = time.monotonic() + 120
    while True:
        answer = ask()
        if good(answer):
            return answer
        assert time.monotonic() < deadline, f"still {answer}"
        time.sleep(0.02)
