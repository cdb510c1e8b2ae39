"""Schema: from users, actions and a time of day to contexts."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ._errors import Error, check
from ._gbose import ffi, lib

Array = NDArray[np.float64]

_NAMES = (dict, str, int, float, np.generic)  # of arms that are taken as they are

_encode = lib.py_encode


class Schema:
    """What is made of the features of users and actions: docs/features.md is the manual of its text.

    text     the schema, as a text
    columns  the names of the columns of a context, `round_columns` those of the features of the round

    >>> import gbose
    >>> schema = gbose.Schema('''
    ...     action.price  number    scale=10
    ...     action.topic  category  sports, politics
    ...     user.device   category  ios, android
    ...     arm   = 1*topic  price  topic*device
    ...     round = device
    ... ''')
    >>> schema.dim, schema.round
    (22, 4)
    >>> schema.columns[:2]
    ['action.topic=sports', 'action.topic=politics']
    >>> rows, round = schema.encode([{"price": 3, "topic": "sports"}, {"price": 5}], user={"device": "ios"})
    >>> rows.shape, rows[:, schema.columns.index("action.price")]
    ((2, 22), array([0.3, 0.5]))

    A schema does not change, and may be shared by threads. Equal schemas have equal hashes.
    """

    __slots__ = ("_s", "dim", "round", "text", "hash", "columns", "round_columns", "__weakref__")

    dim: int  # columns of a context
    round: int  # features of the round
    text: str  # the canonical form
    hash: int  # of the canonical form: states and tickets carry it

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a schema is a str, not {type(text).__name__}")
        if "\0" in text:
            raise Error(f"line {text[: text.index(chr(0))].count(chr(10)) + 1}: there is a zero byte", "ESCHEMA")
        out, err = ffi.new("gbose_schema **"), ffi.new("gbose_error *")
        check(lib.gbose_schema_new(out, text.encode(errors="surrogatepass"), err), err)
        self._s = ffi.gc(out[0], lib.gbose_schema_free)
        self.dim = lib.gbose_schema_dim(self._s)
        self.round = lib.gbose_schema_round(self._s)
        self.text = ffi.string(lib.gbose_schema_text(self._s)).decode(errors="replace")
        self.hash = int(lib.gbose_schema_hash(self._s))
        self.columns: list[str] = self._names(lib.gbose_schema_column, self.dim)
        self.round_columns: list[str] = self._names(lib.gbose_schema_round_column, self.round)

    def unit(self, column: int) -> str:
        """What 1 in a column of the contexts stands for: "4.8 of action.price"; "" where it says no more than that something is so."""
        buf = ffi.new("char[]", 4000)
        lib.gbose_schema_unit(self._s, column, buf, len(buf))
        return ffi.string(buf).decode()  # type: ignore[no-any-return]

    def _names(self, name: Any, n: int) -> list[str]:
        buf = ffi.new("char[]", 10_000)
        names = []
        for i in range(n):
            length = name(self._s, i, buf, len(buf))
            names.append(ffi.unpack(buf, min(length, len(buf) - 1)).decode(errors="replace"))
        return names

    def encode(self, actions: Any = (), **scopes: Any) -> tuple[Array, Array]:
        """The contexts of a round, (n_arms, dim), and its features, (round,).

        actions  of each arm its features: dictionaries, rows of a pandas frame, or records of numpy. An arm that is a
                 text or a number instead is its action.id
        scopes   the features of the round, as user={"device": "ios"}: a dictionary, a record, a row of a frame, a
                 dataclass; a datetime has hour, weekday, day (of the year) and month

        Values are numbers, texts, bools, and lists of numbers or texts; None, NaN and pandas' NA are missing, and so is
        what is left out. What the schema does not use is passed over. A frame of actions may have columns with full
        names: those of the round (user.device) are taken from its first row.
        """
        if type(actions) is not list or not all(type(action) is dict for action in actions):
            actions, more = _actions(actions)
            for scope, values in more.items():
                scopes[scope] = {**values, **_scope(scope, scopes[scope])} if scope in scopes else values
        for scope, values in scopes.items():
            if type(values) is not dict:
                scopes[scope] = _scope(scope, values)
        rows = np.empty((len(actions), self.dim))
        round = np.empty(self.round)
        err = ffi.new("gbose_error *")
        check(_encode(self._s, id(scopes), id(actions), id(rows), id(round), err), err)
        return rows, round

    def extends(self, before: Schema) -> bool:
        """Does this schema only append terms to `before`? What was learned with that one then stays true."""
        return int(lib.gbose_schema_compatible(before._s, self._s, ffi.NULL)) == 0

    def before(self, hash: int) -> Schema:
        """The schema with this hash that this one only appends terms to: what a log or a state was made by that carries it.

        >>> import gbose
        >>> one = gbose.Schema("action.a number\\naction.b number\\narm = a")
        >>> two = gbose.Schema("action.a number\\naction.b number\\narm = a b")
        >>> two.before(one.hash) == one
        True
        """
        out, err = ffi.new("gbose_schema **"), ffi.new("gbose_error *")
        check(lib.gbose_schema_before(out, self._s, hash, err), err)
        text = ffi.string(lib.gbose_schema_text(ffi.gc(out[0], lib.gbose_schema_free)))
        return Schema(text.decode(errors="surrogatepass"))

    @classmethod
    def fit(cls, frame: Any, arm: Sequence[str], round: Sequence[str] = ()) -> Schema:
        """A schema with types, scales and values from data. Scales are fixed then: `print(schema.text)`, edit it, and
        write it down.

        frame  a pandas frame, numpy records, or a list of dictionaries: a row for each arm
        arm    the columns that differ between arms: "price" or "action.price"
        round  those that move all arms of a round alike: "device", which is user.device then, or "time.hour"

        >>> import gbose
        >>> rows = [{"price": 5.0 * t, "topic": "ab"[t % 2], "hour": t % 24} for t in range(100)]
        >>> schema = gbose.Schema.fit(rows, arm=["price", "topic"], round=["hour"])
        >>> print(schema.text, end="")
        action.price number scale=140 offset=250 missing=off
        action.topic category a, b missing=off
        user.hour cycle 24 missing=off
        arm = action.price action.topic
        round = user.hour
        """
        rows = _records(frame)
        if not rows:
            raise Error("there are no rows to fit a schema to")
        out, err = ffi.new("gbose_fit **"), ffi.new("gbose_error *")
        check(lib.gbose_fit_new(out, err), err)
        fit = ffi.gc(out[0], lib.gbose_fit_free)
        names = {column: _full(column, "action") for column in arm}
        of_round = {column: _full(column, "user") for column in round}
        for column in [*names, *of_round]:
            if not any(column in row for row in rows):
                raise Error(f"there is no column {column!r}")
        for row in rows:
            action = {names[column]: row[column] for column in names if column in row}
            scopes: dict[str, dict[str, Any]] = {}
            for column, name in of_round.items():
                if column in row:
                    scopes.setdefault(name.split(".")[0], {})[name] = row[column]
            actions = [action]
            check(lib.py_fit_add(fit, id(scopes), id(actions), err), err)
        size = ffi.new("size_t *")
        code = lib.gbose_fit_text(fit, ffi.NULL, 0, size, err)
        if code != lib.GBOSE_EBUFFER:
            check(code, err)
        buf = ffi.new("char[]", size[0])
        check(lib.gbose_fit_text(fit, buf, size[0], size, err), err)
        return cls(ffi.string(buf).decode(errors="surrogatepass"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema, (self.text,)

    def __repr__(self) -> str:
        return f"<gbose.Schema of {self.dim} columns, {self.round} for the round, {self.hash:016x}>"

    def __str__(self) -> str:
        return self.text


class Coef(np.ndarray):  # type: ignore[type-arg]
    """Estimates with the names of their columns: an array that also takes a name, coef["action.price"]. `to_dict()` has
    all of them, and pandas.Series(coef, coef.columns) is a series."""

    columns: list[str]

    def __new__(cls, values: Array, columns: Iterable[str]) -> Coef:
        coef = np.asarray(values, dtype=np.float64).view(cls)
        coef.columns = list(columns)
        return coef

    def __array_finalize__(self, obj: Any) -> None:
        self.columns = getattr(obj, "columns", [])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """What is computed from estimates is a plain array."""
        plain = [np.asarray(x) if isinstance(x, Coef) else x for x in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.columns:
                raise KeyError(key)
            return float(np.asarray(self)[self.columns.index(key)])
        return np.asarray(self)[key]

    def __reduce__(self) -> tuple[Any, ...]:
        return Coef, (np.asarray(self), self.columns)

    def to_dict(self) -> dict[str, float]:
        """{column: estimate}"""
        return dict(zip(self.columns, np.asarray(self).tolist()))

    def __repr__(self) -> str:
        width = max((len(name) for name in self.columns), default=0)
        return "\n".join(f"{name:{width}}  {value: .6g}" for name, value in zip(self.columns, np.asarray(self)))


def _full(name: str, scope: str) -> str:
    """A full name: itself if it has a dot."""
    return name if "." in name else f"{scope}.{name}"


def _is_frame(x: Any) -> bool:
    """A pandas frame, or something like it; pandas itself is not imported."""
    return hasattr(x, "to_dict") and hasattr(x, "columns") and hasattr(x, "dtypes")


def _record(row: Any) -> dict[str, Any]:
    """A record of numpy as a dictionary."""
    return {name: row[name] for name in row.dtype.names}


def _records(table: Any) -> list[Any]:
    """The rows of a table as dictionaries; arms that are names stay what they are."""
    if _is_frame(table):
        columns = [str(column) for column in table.columns]
        # column by column: a frame's own conversion would make floats of whole rows of numbers
        values = [table.iloc[:, i].astype(object).tolist() for i in range(len(columns))]
        return [dict(zip(columns, row)) for row in zip(*values)] if columns else [{} for _ in range(len(table))]
    if isinstance(table, np.ndarray) and table.dtype.names:
        return [_record(row) for row in table.reshape(-1)]
    if isinstance(table, (str, bytes, Mapping)):
        raise Error("actions must be a list of dictionaries or names, a frame, or records")
    try:
        rows = list(table)
    except TypeError:
        raise Error(f"actions must be a list, a frame or records, not of type {type(table).__name__}") from None
    return [row if isinstance(row, _NAMES) and not _is_record(row) else _scope("action", row) for row in rows]


def _is_record(x: Any) -> bool:
    return isinstance(x, np.void) and bool(x.dtype.names)


def _actions(table: Any) -> tuple[list[Any], dict[str, dict[str, Any]]]:
    """The arms; and the features of the round that stand in the first row of a frame under their full names."""
    rows = _records(table)
    scopes: dict[str, dict[str, Any]] = {}
    if rows and (_is_frame(table) or (isinstance(table, np.ndarray) and table.dtype.names)):
        for name, value in rows[0].items():
            scope = name.split(".")[0]
            if "." in name and scope != "action":
                scopes.setdefault(scope, {})[name] = value
    return rows, scopes


def _scope(scope: str, values: Any) -> dict[str, Any]:
    """The features of one thing as a dictionary."""
    if isinstance(values, dict):
        return values
    if values is None:
        return {}
    if isinstance(values, datetime.datetime):
        hour = values.hour + values.minute / 60 + values.second / 3600
        return {"hour": hour, "weekday": values.weekday(), "day": values.timetuple().tm_yday, "month": values.month}
    if isinstance(values, Mapping):
        return dict(values)
    if _is_record(values):
        return _record(values)
    if isinstance(values, np.ndarray) and values.dtype.names and values.size == 1:
        return _record(values.reshape(-1)[0])
    if _is_frame(values):
        rows = _records(values)
        if len(rows) != 1:
            raise Error(f"{scope}: a frame must have one row, not {len(rows)}")
        return dict(rows[0])
    if hasattr(values, "to_dict") and hasattr(values, "index"):  # a series: a row of a frame
        return {str(name): value for name, value in zip(values.index, values.tolist())}
    if dataclasses.is_dataclass(values) and not isinstance(values, type):
        return dataclasses.asdict(values)
    if hasattr(values, "_asdict"):
        return dict(values._asdict())
    raise Error(f"{scope}: features are a dictionary, a record or a row of a frame, not of type {type(values).__name__}")
