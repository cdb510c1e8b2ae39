"""Effects: what features do to the reward, as a table."""

from __future__ import annotations

import builtins
import html
import math
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ._gbose import ffi, lib
from ._schema import Schema


class Effects(list[Any]):
    """Effects, each a dictionary: effect (its name), estimate, and limits: anytime_lower and anytime_upper hold however often
    one looks, lower and upper (from a log only) for one look. effects["action.price"] is one of them; frame() and plot()
    show all. Values of a category are told against the first one: "action.topic=travel less action.topic=sports"; "with parts"
    adds the terms that are parts of a product. By a schema, for_each says what an estimate is for each of: "4.8 of action.price". `unknown`
    are the names of those that cannot be told, since chance never chose between arms that differ in them alone."""

    def __init__(self, rows: Sequence[Any] = (), unknown: Sequence[str] = ()) -> None:
        super().__init__(rows)
        self.unknown = list(unknown)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for row in self:
            if row["effect"] == key:
                return row
        raise KeyError(f"{key}: chance never chose between arms that differ in it" if key in self.unknown else key)

    def frame(self) -> Any:
        """A pandas frame, a row for each effect."""
        import pandas as pd

        return pd.DataFrame(list(self) or {"effect": []}).set_index("effect")

    def plot(self, ax: Any = None) -> Any:
        """A forest plot by matplotlib: thin for looks as often as one likes, thick for one look."""
        import matplotlib.pyplot as plt

        ax = ax or plt.gca()
        for i, row in enumerate(self):
            y = len(self) - i
            if math.isfinite(row.get("anytime_lower", math.nan)):
                ax.plot([row["anytime_lower"], row["anytime_upper"]], [y, y], color="C0", lw=1)
            if "lower" in row:
                ax.plot([row["lower"], row["upper"]], [y, y], color="C0", lw=3)
            ax.plot(row["estimate"], y, "o", color="C0")
        ax.axvline(0, color="black", lw=0.5)
        ax.set_yticks(builtins.range(len(self), 0, -1), [row["effect"] for row in self])
        ax.set_xlabel("effect on the reward")
        return ax

    def _cells(self) -> list[list[str]]:
        """The table as texts, its head first."""
        kinds = [(head, low, high) for head, low, high in (("one look", "lower", "upper"), ("any time", "anytime_lower", "anytime_upper"))
                 if any(low in row for row in self)]
        each = any(row.get("for_each") for row in self)
        cells = [["effect", "estimate", *(head for head, _, _ in kinds), *(["for each"] if each else [])]]
        for row in self:
            limits = (_interval(row[low], row[high]) for _, low, high in kinds)
            cells.append([row["effect"], f"{row['estimate']:.4g}", *limits, *([row.get("for_each", "")] if each else [])])
        return cells

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(line[i]) for line in cells) for i in builtins.range(len(cells[0]))]
        lines = ["  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:]))]) for line in cells]
        if self.unknown:
            lines.append("Chance never chose between arms that differ in " + ", ".join(self.unknown) + " alone.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks: what print() says, as a table."""
        head, *rows = self._cells()
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return "<table><thead><tr>" + "".join(f"<th>{cell}</th>" for cell in head) + f"</tr></thead><tbody>{body}</tbody></table>"


def collect(
    columns: list[str], x: Mapping[str, Any] | Sequence[str] | None, schema: Schema | None, ask: Callable[[Any], dict[str, Any] | None]
) -> Effects:
    """Effects of columns by name, all of them without x, or of rows of features. `ask` gives None for what cannot be told.

    What is constant for each value of a category adds up to the same for all arms, so that a value is told against the first one;
    and where a schema has topic and topic*device, what a topic adds for a device is both together: the product with its parts."""
    out = Effects()
    if isinstance(x, Mapping):
        for name, row in x.items():
            found = ask(row)
            if found is None:
                out.unknown.append(str(name))
            else:
                out.append({"effect": str(name), **found})
        return out
    references = set()
    for name in columns if x is None else x:
        i = columns.index(name)
        alone = np.zeros(len(columns))
        alone[i] = 1
        found, label = ask(alone), name
        if found is None and schema is not None:
            j = int(lib.gbose_schema_reference(schema._s, i))
            if j != i:
                alone[j] -= 1
                found, label = ask(alone), f"{name} less {columns[j]}"
            if found is None:
                parts, others = _parts(schema, i), _parts(schema, j)
                found, label = ask(parts - others if j != i else parts), label + ", with parts"
            if found is not None and j != i:
                references.add(columns[j])
        if found is None:
            out.unknown.append(name)
        else:
            out.append({"effect": label, **found, **({"for_each": schema.unit(i)} if schema is not None else {})})
    out.unknown = [name for name in out.unknown if name not in references]
    return out


def _parts(schema: Schema, i: int) -> Any:
    row = np.empty(schema.dim)
    lib.gbose_schema_parts(schema._s, i, ffi.from_buffer("double[]", row))
    return row


def _interval(lower: float, upper: float) -> str:
    return f"[{lower:.4g}, {upper:.4g}]" if math.isfinite(lower) else "not yet"
