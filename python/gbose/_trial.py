"""Micro-randomised trials: the effect of a treatment, by weighted and centred least squares."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._effects import Effects
from ._errors import Error, check
from ._gbose import ffi, lib
from ._rows import number, records


def wcls(
    table: Any, *, unit: str = "unit", action: str = "action", probability: str = "probability", outcome: str = "outcome",
    available: str | None = None, controls: Sequence[str] = (), moderators: Sequence[str] = (), numerator: float | None = None,
    level: float = 0.95,
) -> Effects:
    """The causal effect of a treatment in a micro-randomised trial, as `gbose effects --wcls` has it: weighted and centred least squares
    (Boruvka, Almirall, Witkiewitz, Murphy, 2018), errors by participant with the small-sample correction of Mancl and DeRouen.

    table       a frame, a CSV or dictionaries: a row for each participant and decision point
    unit, action, probability, outcome   its columns: the participant, whether it was treated (1 or 0), with what probability, and what came of it
    available   a column that is 0 where no treatment was possible: such rows are left out
    controls    columns that explain the outcome without treatment
    moderators  columns that the effect may depend on. The first row of the result is the effect where all of them are 0
    numerator   the probability that weights are centred by; the mean probability without it
    level       of confidence. The intervals are for one look, at a time that was chosen beforehand

    Participants must be independent: where a learner pooled over them set the probabilities they are not quite.

    >>> import gbose, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> rows = [{"unit": t // 30, "action": a, "probability": 0.6, "outcome": 2 + 0.5 * a + rng.normal()}
    ...         for t, a in enumerate((rng.random(1200) < 0.6).astype(int))]
    >>> effect = gbose.wcls(rows)["treatment"]
    >>> effect["lower"] < 0.5 < effect["upper"]
    True
    """
    where, columns, every = records(table)
    for name in (unit, action, probability, outcome, *([available] if available else []), *controls, *moderators):
        if name not in columns:
            raise Error(f"{where}: there is no column {name!r}; there are {', '.join(columns) or 'none'}")
    if not 0 < level < 1:
        raise Error(f"level must be between 0 and 1, as 0.95; got {level}")

    def at(i: int, row: Any, name: str) -> float:
        try:
            return number(row, name)
        except Error as error:
            raise Error(f"{where}, row {i}: {error}") from None

    rows = [(i, row) for i, row in enumerate(every) if not available or at(i, row, available)]
    if not rows:
        raise Error(f"{where}: there is no row that counts")
    if numerator is None:
        numerator = float(np.mean([at(i, row, probability) for i, row in rows]))
    err, box = ffi.new("gbose_error *"), ffi.new("gbose_wcls **")
    check(lib.gbose_wcls_new(box, 1 + len(controls), 1 + len(moderators), err), err)
    w = ffi.gc(box[0], lib.gbose_wcls_free)
    c = ffi.new("gbose_trial_row *")
    units: dict[Any, int] = {}
    for i, row in rows:
        of_control = ffi.new("double[]", [1.0, *(at(i, row, name) for name in controls)])
        of_effect = ffi.new("double[]", [1.0, *(at(i, row, name) for name in moderators)])
        treated = at(i, row, action)
        if treated not in (0, 1):
            raise Error(f"{where}, row {i}: '{action}' must be 0 or 1; got {treated:g}")
        c.unit, c.available, c.action = units.setdefault(row[unit], len(units)), 1, int(treated)
        c.probability, c.numerator, c.outcome = at(i, row, probability), numerator, at(i, row, outcome)
        c.controls, c.moderators = of_control, of_effect
        if lib.gbose_wcls_add(w, c, err):
            raise Error(f"{where}, row {i}: {ffi.string(err.text).decode()}")
    out, value = Effects(), ffi.new("gbose_effect_value *")
    for k, name in enumerate(["treatment (moderators 0)" if moderators else "treatment", *moderators]):
        code = lib.gbose_wcls_at(w, ffi.new("double[]", [float(j == k) for j in range(1 + len(moderators))]), level, value)
        if code == lib.GBOSE_EUNSEEN:
            out.unknown.append(name)
            continue
        check(code)
        out.append({"effect": name, "estimate": value.estimate, "error": value.error, "lower": value.fixed.lower, "upper": value.fixed.upper,
                    "rounds": value.rounds, "units": value.units})
    return out
