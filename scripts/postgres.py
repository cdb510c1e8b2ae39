#!/usr/bin/env python3
"""A PostgreSQL of one's own, in a temporary directory, which is gone afterwards.

    scripts/postgres.py COMMAND...        run a command beside it: GBOSE_TEST_POSTGRES is its URL. Exit code: the
                                          command's, or 77 if no PostgreSQL is installed.

Never as root, which PostgreSQL refuses: then it is nobody's. It listens on loopback and on a socket in its directory, and
ends with the process that started it, even if that is killed."""

import glob
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


class NotInstalled(Exception):
    pass


def programs():
    """The directory of the newest PostgreSQL's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(re.search(r"/(\d+)", path)[1]))
    if not found:
        raise NotInstalled("no PostgreSQL is installed (Debian: postgresql)")
    return os.path.dirname(found[-1])


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


# Somebody to clean up if this process is killed, which it notices by the end of its input. PostgreSQL ends by itself then; what it still writes
# on its way, or initdb if it was not further, must not outlive the directory: it is gone when it has not come back for a while.
JANITOR = """
cat
[ -e "$1" ] || exit 0
while [ $((i += 1)) -le 100 ] && [ -e "$1" ]; do
    [ -e "$1/data/postmaster.pid" ] || rm -rf "$1"
    sleep 0.3
done 2>/dev/null
rm -rf "$1"
"""


class Postgres:
    """Options are settings of the server. Without fsync a killed process loses nothing, only a killed machine would."""

    def __init__(self, directory=None, **options):
        self.bin = programs()
        self.dir = directory or tempfile.mkdtemp(prefix="gbose-postgres.")
        self.options = {"fsync": "off", "shared_buffers": "64MB", "max_connections": "200", **options}
        self.port = free_port()
        self.process = None
        self.drop = []
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.dir, nobody.pw_uid, nobody.pw_gid)
            self.drop = [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        self.log = open(os.path.join(self.dir, "log"), "a+")
        self.janitor = subprocess.Popen(["sh", "-c", JANITOR, "sh", self.dir], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd="/", start_new_session=True)

    @property
    def url(self):
        return f"postgresql://gbose@127.0.0.1:{self.port}/postgres"

    def run(self, *words):
        return ["setpriv", *self.drop, "--pdeathsig=INT", "--", *words]

    def initialise(self):
        done = subprocess.run(
            self.run(f"{self.bin}/initdb", "-D", f"{self.dir}/data", "-U", "gbose", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"),
            stdout=self.log, stderr=self.log, cwd="/",
        )
        if done.returncode:
            self.log.seek(0)
            raise RuntimeError(self.log.read())
        return self

    def follow(self, primary):
        """Instead of initialise(): a standby, which follows that one from when it is started."""
        subprocess.run(
            self.run(f"{self.bin}/pg_basebackup", "-D", f"{self.dir}/data", "-d", primary.url, "-R", "-X", "stream", "-c", "fast", "--no-sync"),
            stdout=self.log, stderr=self.log, cwd="/", check=True,
        )
        return self

    def promote(self):
        """A standby takes writes from now on."""
        subprocess.run(self.run(f"{self.bin}/pg_ctl", "promote", "-w", "-D", f"{self.dir}/data"), stdout=self.log, stderr=self.log, cwd="/", check=True)

    def start(self):
        settings = [word for name, value in self.options.items() for word in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(
            self.run(f"{self.bin}/postgres", "-D", f"{self.dir}/data", "-p", str(self.port), "-k", self.dir, "-c", "listen_addresses=127.0.0.1", *settings),
            stdout=self.log, stderr=self.log, cwd="/", start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while subprocess.run([f"{self.bin}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.log.seek(0)
                raise RuntimeError(self.log.read()[-4000:])
            time.sleep(0.02)
        return self

    def stop(self, how=signal.SIGINT):
        """SIGINT ends sessions and shuts down; SIGQUIT is as if the machine's power went, for the database."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGQUIT)
                self.process.wait(30)

    def sql(self, statement, name="postgres"):
        """Rows as lines, of the database of that name."""
        url = self.url.replace("/postgres", f"/{name}")
        done = subprocess.run([f"{self.bin}/psql", "-qAtX", "-v", "ON_ERROR_STOP=1", url, "-c", statement], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def remove(self):
        self.stop(signal.SIGQUIT)
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)
        self.janitor.stdin.close()
        self.janitor.wait()

    def __enter__(self):
        try:
            return self.initialise().start()
        except BaseException:
            self.remove()
            raise

    def __exit__(self, *_):
        self.remove()


def main(words):
    if not words or words[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if words else 2
    # A signal ends the command first, and then, like everything else, comes back here to clean up.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    try:
        with Postgres() as it:
            command = subprocess.Popen(["setpriv", "--pdeathsig=TERM", "--", *words], env={**os.environ, "GBOSE_TEST_POSTGRES": it.url})
            try:
                code = command.wait()
            finally:
                if command.poll() is None:
                    command.terminate()
                    command.wait()
            return code if code >= 0 else 128 - code
    except NotInstalled as error:
        print(f"postgres.py: {error}", file=sys.stderr)
        return 77
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
