"""World: a simulated environment of the C library, stepped by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._arguments import Array, Number, make_spec, within
from ._errors import Error, check
from ._gbose import ffi, lib


class Round(NamedTuple):
    """A round of a world. The reward of arm i is means[i] + shift + noise (clipped, in some worlds).

    contexts  (n_arms, dim): the features of each arm
    means     (n_arms,): what each arm is worth on average; regret is measured by it
    shift     v: the same for all arms
    noise     the same whichever arm is played
    """

    contexts: Array
    means: Array
    shift: float = 0.0
    noise: float = 0.0


class World:
    """A simulated world (gbose.worlds() lists them), round by round.

    spec        its name and options: "paper:arms=10,dim=2,shift=log-sine"; options can be given by name as well
    seed, repetition   of its random numbers: the same two give the same rounds, and a study of that seed meets them too

    >>> import gbose
    >>> world = gbose.World("paper", arms=3, dim=2, shift="log-sine")
    >>> bandit = gbose.Bandit("gbose", dim=world.dim, seed=1)
    >>> total = 0.0
    >>> for t in range(1000):
    ...     round = world.next()
    ...     decision = bandit.decide(round.contexts)
    ...     reward, regret = world.play(decision.arm)
    ...     bandit.learn(decision.ticket, reward)
    ...     total += regret
    >>> world.rounds, total < 300
    (1000, True)
    """

    def __init__(self, spec: str, seed: int = 1, repetition: int = 0, **options: Number) -> None:
        if not isinstance(spec, str):
            raise TypeError(f"a spec is a str, not {type(spec).__name__}")
        out, err = ffi.new("gbose_world **"), ffi.new("gbose_error *")
        self.spec = make_spec(spec, dict(options))
        if "\0" in self.spec:
            raise Error("a spec cannot hold a zero byte", "ESPEC")
        seed, repetition = within(seed, 2**64, "seed"), within(repetition, 2**32, "repetition")
        check(lib.gbose_world_new(out, self.spec.encode(), seed, repetition, err), err)
        self._w: Any = ffi.gc(out[0], lib.gbose_world_free)
        self._n_arms = 0

    @property
    def dim(self) -> int:
        """The number of features of an arm."""
        return int(lib.gbose_world_dim(self._w))

    @property
    def max_arms(self) -> int:
        """The most arms that a round can have."""
        return int(lib.gbose_world_max_arms(self._w))

    @property
    def rounds(self) -> int:
        """The number of rounds made."""
        return int(lib.gbose_world_rounds(self._w))

    def next(self) -> Round:
        """Go on to the next round; the first call makes the first one."""
        r = ffi.new("gbose_world_round *")
        check(lib.gbose_world_next(self._w, r))
        self._n_arms = n = r.n_arms
        contexts = np.frombuffer(ffi.buffer(r.contexts, 8 * n * self.dim)).reshape(n, self.dim).copy()
        return Round(contexts, np.frombuffer(ffi.buffer(r.means, 8 * n)).copy(), r.shift, r.noise)

    def play(self, arm: int) -> tuple[float, float]:
        """Play an arm of this round: its reward, and its regret (what the best arm is worth more, on average)."""
        if not self._n_arms:
            raise Error("there is no round yet: call next()")
        if not 0 <= within(arm, 2**63, "arm") < self._n_arms:
            raise Error(f"arm must be from 0 to {self._n_arms - 1}, not {arm}")
        reward, regret = ffi.new("double *"), ffi.new("double *")
        check(lib.gbose_world_play(self._w, arm, reward, regret))
        return reward[0], regret[0]

    def __repr__(self) -> str:
        return f"<gbose.World {self.spec!r} dim={self.dim} rounds={self.rounds}>"
