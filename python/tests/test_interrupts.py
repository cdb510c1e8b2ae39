"""Signal handlers and forks while a bandit is at work. Each test is a program of its own, so that a deadlock is a timeout."""

import subprocess
import sys
import textwrap

import pytest

BEGIN = """
import os, signal, sys, threading, time
import numpy as np
import gbose

rng = np.random.default_rng(1)
bandit = gbose.Bandit("semi-ts", dim=5, seed=1)
contexts = rng.normal(size=(200, 9, 5))
"""


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + textwrap.dedent(program)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_handler_uses_the_bandit_that_decides():
    """Whatever the handler does, the decision that it interrupts is the one it would have been."""
    out = run("""
        plain, struck, inner = gbose.load(bandit.save()), 0, []

        def strike(*_):
            global struck
            struck += 1
            gbose.load(bandit.save())
            bandit.coef, bandit.rounds, bandit.spec
            before = bandit.decisions
            d = bandit.decide(contexts[struck % 200][: 2 + struck % 7])
            inner.append((before, d.arm, d.pmf.tolist(), d.ticket))
            signal.setitimer(signal.ITIMER_REAL, 2e-4)

        signal.signal(signal.SIGALRM, strike)
        signal.setitimer(signal.ITIMER_REAL, 1e-4)
        outer = []
        end = time.monotonic() + 60
        while struck < 2000 and time.monotonic() < end:
            outer.append(bandit.decide(contexts[len(outer) % 200]))
        signal.setitimer(signal.ITIMER_REAL, 0)
        # Nothing was learned, so decision k of the stream is the same whenever it is taken: play both in order.
        number = {before: (arm, pmf, ticket, contexts[(i + 1) % 200][: 2 + (i + 1) % 7])
                  for i, (before, arm, pmf, ticket) in enumerate(inner)}
        rest = iter(enumerate(outer))
        for k in range(len(outer) + len(inner)):
            if k in number:
                arm, pmf, ticket, x = number[k]
            else:
                i, d = next(rest)
                arm, pmf, ticket, x = d.arm, d.pmf.tolist(), d.ticket, contexts[i % 200]
            want = plain.decide(x)
            assert (arm, pmf, ticket) == (want.arm, want.pmf.tolist(), want.ticket), k
        print(struck)
    """)
    assert int(out) >= 200


def test_a_handler_learns_and_saves_on_sigterm():
    out = run("""
        def stop(*_):
            bandit.learn(ticket, 1.0)
            print(gbose.load(bandit.save()).rounds, flush=True)
            os._exit(0)

        ticket = bandit.decide(contexts[0]).ticket
        signal.signal(signal.SIGTERM, stop)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
        while True:
            bandit.decide(contexts[0])
    """)
    assert out == "1\n"


def test_a_handler_is_told_what_cannot_be_done():
    """decide_many() on threads reads the learner all the while; merge() wants two locks in order."""
    out = run("""
        said = set()

        def strike(*_):
            for call in (lambda: bandit.learn(ticket, 1.0), lambda: bandit.merge(other)):
                try:
                    call()
                except gbose.Error as error:
                    said.add(str(error))
            bandit.save()

        other, ticket = gbose.Bandit("semi-ts", dim=5, seed=2), bandit.decide(contexts[0]).ticket
        many = rng.normal(size=(400, 30, 5))
        signal.signal(signal.SIGALRM, strike)
        end = time.monotonic() + 60
        while len(said) < 2 and time.monotonic() < end:
            signal.setitimer(signal.ITIMER_REAL, 1e-3)
            bandit.decide_many(many, threads=3)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(*sorted(said), sep="\\n")
    """)
    assert [line.split("()")[0] for line in out.splitlines()] == ["learn", "merge"]


@pytest.mark.parametrize("work", ["decide(contexts[0])", "learn(ticket, 0.5)", "decide_many(contexts)"])
def test_a_fork_while_another_thread_works(work):
    out = run(f"""
        ticket = bandit.decide(contexts[0]).ticket
        done = threading.Event()

        def work():
            while not done.is_set():
                bandit.{work}

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        good = 0
        for _ in range(20):
            time.sleep(0.003)
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                gbose.load(bandit.save())
                bandit.learn(bandit.decide(contexts[1]).ticket, 1.0)
                os._exit(0 if np.isfinite(bandit.coef).all() else 1)
            good += os.waitpid(child, 0)[1] == 0
        done.set()
        for thread in threads:
            thread.join()
        bandit.decide(contexts[0])
        print(good)
    """)
    assert int(out) == 20


def test_a_fork_that_cannot_wait():
    """A thread that does not let go: the child says so, the parent goes on."""
    out = run("""
        from gbose import _bandit

        _bandit._PATIENCE = 0.2
        held, done = threading.Event(), threading.Event()

        def hold():
            with bandit._lock:
                held.set()
                done.wait(60)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        other = gbose.Bandit("gbose", dim=2)
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            other.decide(np.eye(2))
            for call in (bandit.save, lambda: bandit.decide(contexts[0]), lambda: bandit.learn(b"", 1.0)):
                try:
                    call()
                    os._exit(1)
                except gbose.Error as error:
                    if "forked while another thread" not in str(error):
                        os._exit(2)
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        done.set()
        thread.join()
        bandit.decide(contexts[0])
    """)
    assert out == "0\n"
