"""The tables of learners and worlds."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from ._gbose import ffi, lib


class Option(NamedTuple):
    """An option of a learner or a world."""

    name: str
    default: str
    accepts: str
    help: str


class Info(NamedTuple):
    """A learner or a world: what Bandit, World and simulate() know by its name."""

    name: str
    summary: str
    options: tuple[Option, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.summary}"]
        lines += [f"  {o.name}={o.default}  {o.help} ({o.accepts})" for o in self.options]
        return "\n".join(lines)


def _text(c: Any) -> str:
    return str(ffi.string(c).decode())


def _accepts(option: Any) -> str:
    size = lib.gbose_option_accepts(ffi.NULL, 0, option) + 1
    buf = ffi.new("char[]", size)
    lib.gbose_option_accepts(buf, size, option)
    return _text(buf)


def _read(at: Callable[[int], Any]) -> list[Info]:
    table: list[Info] = []
    while at(len(table)):
        info = at(len(table))
        options = [info.options + i for i in range(info.n_options)]
        table.append(
            Info(
                _text(info.name),
                _text(info.summary),
                tuple(Option(_text(o.name), _text(o.value), _accepts(o), _text(o.help)) for o in options),
            )
        )
    return table


def learners() -> list[Info]:
    """All learners, with their options.

    >>> import gbose
    >>> [learner.name for learner in gbose.learners()][:2]
    ['gbose-auto', 'gbose']
    >>> print(gbose.learners()[1].options[0].name, "=", gbose.learners()[1].options[0].default)
    gamma = 0.1
    """
    return _read(lib.gbose_learner_at)


def worlds() -> list[Info]:
    """All worlds, with their options.

    >>> import gbose
    >>> [world.name for world in gbose.worlds()]
    ['paper', 'kim-paik', 'krishnamurthy', 'gallery', 'heartsteps']
    """
    return _read(lib.gbose_world_at)
