"""Many rounds decided at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ._arguments import Array
from ._decision import Decisions
from ._errors import check, failure
from ._gbose import ffi, lib


def decide_rounds(
    g: Any, x: Array, features: Array | None, stream: int, first: int, tickets: bool, threads: int
) -> Decisions:
    """Decisions of a learner in the rounds x, (rounds, n_arms, dim), on so many threads; each takes a part of them."""
    n_rounds, n_arms = x.shape[:2]
    room_size = lib.gbose_ticket_room(g, n_arms) if tickets else 0
    arm = np.empty(n_rounds, np.uintp)
    probability, pmf = np.empty(n_rounds), np.empty((n_rounds, n_arms))
    draws = np.empty(n_rounds, np.uintp)
    room = np.empty((n_rounds, room_size), np.uint8) if tickets else None
    size = np.zeros(n_rounds, np.uintp) if tickets else None

    def part(begin: int, end: int) -> int:
        scratch = ffi.new("gbose_scratch **")
        check(lib.gbose_scratch_new(scratch))
        owned = ffi.gc(scratch[0], lib.gbose_scratch_free)
        out = ffi.new("gbose_choices *")
        out.arm = ffi.from_buffer("size_t[]", arm[begin:end])
        out.probability = ffi.from_buffer("double[]", probability[begin:end])
        out.pmf = ffi.from_buffer("double[]", pmf[begin:end])
        out.draws = ffi.from_buffer("size_t[]", draws[begin:end])
        if room is not None and size is not None:
            out.tickets = ffi.from_buffer("char[]", room[begin:end])
            out.ticket_size = ffi.from_buffer("size_t[]", size[begin:end])
        rows = ffi.from_buffer("double[]", x[begin:end])
        given = ffi.NULL if features is None else ffi.from_buffer("double[]", features[begin:end])
        return int(lib.gbose_decide_many(g, owned, out, stream, first + begin, rows, given, end - begin, n_arms))

    ends = [n_rounds * k // threads for k in range(threads + 1)]
    if n_rounds == 0:
        codes = []
    elif threads == 1:
        codes = [part(0, n_rounds)]
    else:
        with ThreadPoolExecutor(threads) as pool:
            codes = list(pool.map(part, ends[:-1], ends[1:]))
    for code in codes:
        if code:
            raise failure(code)
    return Decisions(arm.view(np.intp), probability, pmf, draws.view(np.intp), room, size)
