"""The rows of a log, whatever it comes as: docs/evaluation.md says what formats there are."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import math
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Sequence, TextIO, Union

from ._errors import Error

Row = Mapping[str, Any]

# Under this key rows of a table have what the columns of their contexts are called.
COLUMNS = "x:"

# How the Open Bandit Dataset calls columns.
_OBD = {"item_id": "arm", "click": "reward", "propensity_score": "probability", "timestamp": "t", "position": "page.position"}


# Which arms there are, where a table has only the probability of the one that was played: how many, or their ids.
Arms = Union[int, Sequence[Any], None]


def rows(log: Any, arms: Arms = None) -> Iterator[Row]:
    """Rows with 'arm' (an index) and 'pmf', or 'p' and 'arms', and 'r' or 'reward': of a path (JSON lines, dsjson, CSV, the Open
    Bandit Dataset; .gz too), a frame, or dictionaries."""
    if isinstance(log, (str, Path)):
        yield from _file(Path(log), arms)
    elif hasattr(log, "to_dict") and hasattr(log, "columns"):
        columns, records = [str(c) for c in log.columns], log.to_dict("records")
        yield from records if "pmf" in columns else _table("the frame", columns, records, arms)
    else:
        yield from log


def _file(path: Path, arms: Arms) -> Iterator[Row]:
    name = path.name[:-3] if path.name.endswith(".gz") else path.name
    with _open(path) as lines:
        try:
            if name.endswith(".csv"):
                table = csv.DictReader(lines, strict=True)
                yield from _table(str(path), list(table.fieldnames or []), table, arms)
            else:
                yield from _lines(path, lines)
        except _UNREADABLE as error:
            raise Error(f"{path}: {error}") from None


# What a file that is cut off, or is no text, raises while it is read.
_UNREADABLE = (EOFError, gzip.BadGzipFile, UnicodeDecodeError, csv.Error)


def _open(path: Path) -> TextIO:
    """A file of text, packed or not; a byte order mark at its beginning is passed over."""
    return gzip.open(path, "rt", encoding="utf-8-sig") if path.name.endswith(".gz") else open(path, encoding="utf-8-sig")


def records(table: Any) -> tuple[str, list[str], list[Row]]:
    """What a table is called in messages, its columns and its rows: of a CSV (a path, .gz too), a frame, or dictionaries."""
    if isinstance(table, (str, Path)):
        with _open(Path(table)) as lines:
            try:
                reader = csv.DictReader(lines, strict=True)
                return str(table), list(reader.fieldnames or []), list(reader)
            except _UNREADABLE as error:
                raise Error(f"{table}: {error}") from None
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        return "the frame", [str(c) for c in table.columns], table.to_dict("records")
    rows = list(table)
    return "the table", [str(c) for c in rows[0]] if rows else [], rows


def _lines(path: Path, lines: Iterable[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Error(f"{path}, line {number}: {error}") from None
        if not isinstance(row, dict):
            raise Error(f"{path}, line {number}: a line must be an object")
        if "_label_cost" in row or ("EventId" in row and "c" in row):
            row = _dsjson(row, f"{path}, line {number}")
        yield row


# ---- dsjson ----


def _namespaces(features: Mapping[str, Any], loose: dict[str, Any]) -> dict[str, Any]:
    """Namespaces as objects, though they be lists of objects; what is in none goes to `loose`. '_' begins what is no feature."""
    out: dict[str, Any] = {}
    for key, value in features.items():
        if key.startswith("_"):
            continue
        if isinstance(value, list) and value and isinstance(value[0], dict):
            value = {k: v for part in value if isinstance(part, dict) for k, v in part.items()}
        (out if isinstance(value, dict) else loose)[key] = value
    return out


def _dsjson(row: Row, where: str) -> Row:
    kept = 1 - float(row.get("pdrop", 0))
    drawn: dict[str, Any] = {}
    try:
        context = row["c"]
        arms = context["_multi"]
        if "a" in row or "p" in row:
            order, p = row["a"], row["p"]
            drawn.update(arm=order[0] - 1, pmf=[0.0] * len(arms))
            for arm, probability in zip(order, p if len(p) == len(order) else ()):
                drawn["pmf"][arm - 1] = probability
        else:  # the label's probability alone, which has been multiplied by what was kept
            drawn.update(arm=row["_label_Action"] - 1, p=row["_label_probability"] / kept, n_arms=len(arms))
    except (KeyError, TypeError, IndexError, ValueError, ZeroDivisionError):
        raise Error(f"{where}: dsjson needs 'a' and 'p' of the same length, or '_label_Action' and '_label_probability', and 'c' with the arms "
                    "in its list '_multi'") from None
    shared: dict[str, Any] = {}
    out: dict[str, Any] = _namespaces(context, shared)
    if shared:
        out["shared"] = shared
    actions: list[dict[str, Any]] = []
    for arm in arms:
        loose: dict[str, Any] = {}
        actions.append({**_namespaces(arm, loose), **loose})
    ids = [arm.get("id", arm.get("_tag", arm.get("i", {}).get("id"))) for arm in arms]
    cost = None if row.get("_skipLearn") else row.get("_label_cost")
    out.update(drawn, actions=actions, r=None if cost is None else 0 - cost)
    out.update(id=row.get("EventId"), t=row.get("Timestamp"), drop=kept)
    if None not in ids:
        out["arms"] = ids
    return out


# ---- tables ----


def _given(value: Any) -> bool:
    return value is not None and value != "" and not (isinstance(value, float) and math.isnan(value))


def number(row: Row, column: str) -> float:
    try:
        return float(row[column])
    except (TypeError, ValueError):
        raise Error(f"'{column}' must be a number; got {row[column]!r}") from None


def _scopes(row: Row, of_action: bool) -> dict[str, dict[str, Any]]:
    """Features by name: {"user": {"age": 7}}."""
    out: dict[str, dict[str, Any]] = {}
    for name, value in row.items():
        scope, dot, rest = str(name).partition(".")
        if dot and ":" not in scope and (scope == "action") == of_action and _given(value):
            out.setdefault(scope, {})[rest] = value
    return out


def _table(where: str, columns: list[str], records: Iterable[Row], arms: Arms) -> Iterator[Row]:
    """A row is a decision or, if there is a column 'played' or 'action.NAME', an arm. With 'action' and 'outcome' it is a trial's."""
    if "arm" not in columns and {"action", "probability", "outcome"} <= set(columns):
        for number, row in enumerate(records):
            if _at(f"{where}, row {number}", _available, row):
                yield _at(f"{where}, row {number}", _of_trial, row)
        return
    is_long = "played" in columns or any(c.startswith("action.") for c in columns)
    if "item_id" in columns and "propensity_score" in columns:
        columns, records = [_OBD.get(c, c) for c in columns], (_obd(row) for row in records)
    whole = any(c.startswith("p:") for c in columns)
    for need in ("id", "probability", "reward") if is_long else ("arm", "reward", *(() if whole else ("probability",))):
        if need not in columns:
            raise Error(f"{where}: there is no column {need!r}; there are {', '.join(columns) or 'none'}")
    if is_long:
        for number, (_, group) in enumerate(itertools.groupby(records, key=lambda row: row["id"])):
            yield _at(f"{where}, decision {number}", _long, list(group))
    else:
        if not whole and arms is None:
            raise Error(f"{where}: only the played arm's probability is there; to evaluate, say which arms there are, as arms=34 "
                        "for 0 to 33, or arms=['a', 'b']; effects need those of all arms, in columns 'p:ID'")
        given = arms if isinstance(arms, Sequence) else range(arms or 0)
        ids = [c[2:] for c in columns if c.startswith("p:")] if whole else [_id(a) for a in given]
        if len(set(ids)) < len(ids):
            raise Error(f"{where}: an arm is named twice: {', '.join(ids)}")
        for number, row in enumerate(records):
            yield _at(f"{where}, row {number}", _wide, row, ids, whole)


def _at(where: str, make: Any, *given: Any) -> Row:
    try:
        return make(*given)  # type: ignore[no-any-return]
    except Error as error:
        raise Error(f"{where}: {error}") from None


def _obd(row: Row) -> dict[str, Any]:
    out = {_OBD.get(name, name): value for name, value in row.items()}
    for name in row:
        if name.startswith("user_feature_"):
            out["user." + name[5:]] = out.pop(name)
    return out


def _others(row: Row) -> dict[str, Any]:
    """Columns that are kept as they are: id, t, unit, and what is no feature, to group by or for policies that are functions."""
    return {k: v for k, v in row.items() if k not in ("arm", "reward", "played", "probability") and "." not in k and ":" not in k and _given(v)}


def _available(row: Row) -> Any:
    return number(row, "available") != 0 if "available" in row else True


def _of_trial(row: Row) -> Row:
    """A decision point of a micro-randomised trial: arms 0 and 1, the probability being that of 1."""
    action, p = number(row, "action"), number(row, "probability")
    if action not in (0, 1):
        raise Error(f"the action is {action:g}: it must be 0 or 1")
    of = [name for name in row if str(name).startswith("x:")]
    x = [1.0, *(number(row, name) for name in of)]
    out: dict[str, Any] = {COLUMNS: ["treatment", *(f"treatment*{name[2:]}" for name in of)], "arm": int(action), "arms": ["0", "1"], "pmf": [1 - p, p], "x": [[0.0] * len(x), x], **_scopes(row, False),
                           "actions": [{"id": "0"}, {"id": "1"}], "r": number(row, "outcome") if _given(row["outcome"]) else None}
    return {**{k: v for k, v in _others(row).items() if k not in ("action", "outcome")}, **out}


def _known(row: Row, arm: str) -> dict[str, Any]:
    """What is known about an arm of a wide table: its id, and in the Open Bandit Dataset the user's affinity."""
    affinity = row.get(f"user-item_affinity_{arm}")
    return {"id": arm, "affinity": affinity} if _given(affinity) else {"id": arm}


def _id(value: Any) -> str:
    """An arm's id: 15.0, which a frame makes of a column of numbers, is 15."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _wide(row: Row, arms: list[str], whole: bool) -> Row:
    arm = _id(row["arm"])
    arm = str(row["arm"]) if arm not in arms else arm
    if arm not in arms:
        raise Error(f"arm {arm!r} has no column 'p:{arm}'" if whole else f"arm {arm!r} is not among the {len(arms)} of arms")
    out: dict[str, Any] = {"arm": arms.index(arm), "arms": list(arms), **_scopes(row, False), "actions": [_known(row, a) for a in arms]}
    out["r"] = number(row, "reward") if _given(row["reward"]) else None
    if whole:
        out["pmf"] = [number(row, f"p:{a}") for a in arms]
    else:
        out["p"] = number(row, "probability")
    of = [name for name in row if str(name).startswith("x:")]
    x = [number(row, name) for name in of]
    if x and whole and len(arms) > 1:  # features of the round: every arm but the first gets a block
        q = 1 + len(x)
        out[COLUMNS] = [f"{arm}*{name[2:]}" if name else arm for arm in arms[1:] for name in ("", *of)]
        out["x"] = [[0.0] * q * (a - 1) + [1.0, *x] + [0.0] * q * (len(arms) - 1 - a) if a else [0.0] * q * (len(arms) - 1) for a in range(len(arms))]
    return {**_others(row), **out}


def _long(group: list[Row]) -> Row:
    first = group[0]
    played = [i for i, row in enumerate(group) if (str(row["played"]).lower() in ("1", "1.0", "true") if "played" in row else _given(row["reward"]))]
    if len(played) != 1:
        raise Error(f"of its {len(group)} arms {len(played)} were played instead of one")
    reward = group[played[0]]["reward"]
    out: dict[str, Any] = {"arm": played[0], "pmf": [number(row, "probability") for row in group], **_scopes(first, False)}
    out["r"] = number(group[played[0]], "reward") if _given(reward) else None
    actions = [_scopes(row, True).get("action", {}) for row in group]
    if any(actions):
        out["actions"] = actions
    ids = [row.get("arm", row.get("action.id")) for row in group]
    if all(_given(i) for i in ids):
        out["arms"] = ids
    of = [name for name in first if str(name).startswith("x:")]
    if of:
        out["x"] = [[number(row, name) for name in of] for row in group]
        out[COLUMNS] = ["x" + name[2:] if name[2:].isdigit() else name[2:] for name in of]
    return {**_others(first), **out}
