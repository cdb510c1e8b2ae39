"""A bar that shows how far a study is."""

from __future__ import annotations

import sys
import time


def watched() -> bool:
    """Is somebody looking: is standard error a terminal, or are we in a notebook?"""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell":
        return True
    return bool(sys.stderr is not None and sys.stderr.isatty())


class Bar:
    """Called with the number of runs done and of all. Shows nothing in the first half second."""

    WIDTH = 30

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = 0

    def __call__(self, done: int, needed: int) -> None:
        passed = time.monotonic() - self._start
        if passed < 0.5 or not needed:
            return
        full = self.WIDTH * done // needed
        left = f", {_duration(passed * (needed - done) / done)} left" if done else ""
        self._write(f"[{'#' * full}{'.' * (self.WIDTH - full)}] {done}/{needed} runs{left}")

    def end(self) -> None:
        """Take it away."""
        if self._shown:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(text)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
