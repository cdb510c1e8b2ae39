"""Decisions, and the tickets that come with them."""

from __future__ import annotations

import sys
from struct import unpack_from
from typing import Any, Iterator, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray

from ._arguments import FLOAT, Array
from ._errors import check
from ._gbose import ffi, lib


class Decision:
    """A choice: what Bandit.decide() returns.

    arm          play this one
    probability  the probability it was drawn with
    pmf          the probabilities of all arms
    ticket       bytes: what Bandit.learn() needs, now or later, here or in another process
    draws        0: pmf is the algorithm's own law; else its image in that many samples, from which the arm was drawn
    """

    __slots__ = ("arm", "_n", "_data")

    arm: int

    def __init__(self, arm: int, n: int, data: bytes) -> None:
        self.arm = arm
        self._n = n
        self._data = data  # pmf, draws, ticket

    @property
    def probability(self) -> float:
        return float(unpack_from("d", self._data, 8 * self.arm)[0])

    @property
    def pmf(self) -> Array:
        return np.frombuffer(self._data, FLOAT, self._n)

    @property
    def draws(self) -> int:
        return int(unpack_from("Q", self._data, 8 * self._n)[0])

    @property
    def ticket(self) -> bytes:
        return self._data[8 * self._n + 8 :]

    def __repr__(self) -> str:
        return f"Decision(arm={self.arm}, probability={self.probability:.6g})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Decision, (self.arm, self._n, self._data)


class Decisions(Sequence[Decision]):
    """The choices of many rounds: what Bandit.decide_many() returns. A sequence of Decision, and as arrays:

    arm          (rounds,)          play these
    probability  (rounds,)
    pmf          (rounds, n_arms)
    draws        (rounds,)          as in Decision
    tickets      a list of bytes, or None if none were asked for
    """

    def __init__(
        self,
        arm: NDArray[np.intp],
        probability: Array,
        pmf: Array,
        draws: NDArray[np.intp],
        room: NDArray[np.uint8] | None,
        size: Any,
    ) -> None:
        self.arm = arm
        self.probability = probability
        self.pmf = pmf
        self.draws = draws
        self._room = room
        self._size = size

    @property
    def tickets(self) -> list[bytes] | None:
        if self._room is None:
            return None
        return [row[:n].tobytes() for row, n in zip(self._room, self._size)]

    def __len__(self) -> int:
        return len(self.arm)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            room, size = (None, None) if self._room is None else (self._room[i], self._size[i])
            return Decisions(self.arm[i], self.probability[i], self.pmf[i], self.draws[i], room, size)
        ticket = b"" if self._room is None else self._room[i, : self._size[i]].tobytes()
        data = self.pmf[i].tobytes() + int(self.draws[i]).to_bytes(8, sys.byteorder) + ticket
        return Decision(int(self.arm[i]), self.pmf.shape[1], data)

    def __iter__(self) -> Iterator[Decision]:
        return (self[i] for i in range(len(self)))


class Ticket(NamedTuple):
    """What a ticket says: what read_ticket() returns."""

    fingerprint: int  # of the learner's spec (but for the seed), dim and schema
    stream: int  # of random numbers that the decision was drawn from
    number: int | None  # of the decision in it; None: somebody else's decision (Bandit.ticket_for())
    dim: int
    n_arms: int
    arm: int  # that was played
    probability: float  # with which it was drawn


def as_ticket(ticket: Any) -> bytes:
    if isinstance(ticket, Decision):
        return ticket.ticket
    if isinstance(ticket, (bytes, bytearray, memoryview)):
        return bytes(ticket)
    raise TypeError(f"a ticket is bytes, not {type(ticket).__name__}")


def read_ticket(ticket: bytes | Decision) -> Ticket:
    """What a ticket says, of whatever learner it is.

    >>> import gbose, numpy as np
    >>> bandit = gbose.Bandit("uniform", dim=2, seed=1)
    >>> ticket = gbose.read_ticket(bandit.decide(np.eye(2)).ticket)
    >>> ticket.number, ticket.n_arms, ticket.probability
    (0, 2, 0.5)
    """
    data, info = as_ticket(ticket), ffi.new("gbose_ticket_info *")
    check(lib.gbose_ticket_read(info, data, len(data)))
    values = {name: getattr(info, name) for name in Ticket._fields}
    if values["number"] == 2**64 - 1:  # GBOSE_LOGGED
        values["number"] = None
    return Ticket(**values)
