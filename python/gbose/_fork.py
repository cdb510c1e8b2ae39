"""What happens to bandits when a process forks.

The child has only the thread that forked. So that no other one is at work on a bandit then, and none is locked in the
child for ever, the forking thread takes them all, in the order of merge().
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import Any

from ._gbose import ffi

_live: dict[int, weakref.ref[Any]] = {}
_forking = threading.local()
_lost: list[Any] = []  # learners that were forked in the middle of a call: whole or not, they are left alone
_PATIENCE = 10.0  # seconds that a fork waits for the calls of other threads


def watch(bandit: Any) -> None:
    """From now on a fork waits for this bandit."""
    _live[id(bandit)] = weakref.ref(bandit, lambda _, key=id(bandit): _live.pop(key, None))  # type: ignore[misc]


def _before_fork() -> None:
    bandits = [bandit for key in sorted(_live.copy()) if (bandit := (_live.get(key, lambda: None))()) is not None]
    end = time.monotonic() + _PATIENCE
    _forking.held, _forking.busy = [], []
    for bandit in bandits:
        taken = bandit._lock.acquire(timeout=max(0.0, end - time.monotonic()))
        (_forking.held if taken else _forking.busy).append(bandit)


def _after_fork() -> None:
    for bandit in _forking.held:
        bandit._lock.release()
    _forking.held = _forking.busy = ()


def _after_fork_in_child() -> None:
    for bandit in _forking.busy:
        _lost.append(bandit._g)
        bandit._g, bandit._lock = ffi.NULL, threading.RLock()
        bandit._why = (
            "this process was forked while another thread was at work on the bandit; "
            "let the parent save() it, and load it here"
        )
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
