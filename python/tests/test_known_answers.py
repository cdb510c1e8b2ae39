"""Logs judged a second time, by the formulas alone: numpy, whole arrays, nothing of the library's.

What the regression inside expected of each arm is not written anywhere, so it is taken out of the library: the sums of DM grow by it from
row to row. Everything else is computed here, and the regression itself is held against its own definition and against the rule that a
row's reward may not be known before it is scored."""

import csv
import json
import math
import subprocess

import numpy as np
import pytest

from gbose._gbose import ffi, lib

ALPHA, SWITCH, SHRINK, HORIZON = 0.05, 4.0, 7.0, 3000.0


# ---- logs with odd features ----


def made(seed, n=600, dim=2, arms=(2, 5), least=0.02, scale=1.0, ties=False, drop=None, missing=0.1, level=0.0):
    """Rows whose arms were drawn as logged; the level of rewards moves."""
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n):
        k = int(rng.integers(arms[0], arms[1] + 1))
        p = rng.dirichlet(np.full(k, 0.7))
        p = (1 - k * least) * p + least if k * least < 1 else np.full(k, 1 / k)
        p /= p.sum()
        x = rng.integers(0, 2, (k, dim)).astype(float) if ties else rng.normal(size=(k, dim))
        arm = int(rng.choice(k, p=p))
        reward = scale * (0.3 * x[arm].sum() + np.sin(t / 70) + 0.5 * rng.normal()) + level
        target = rng.dirichlet(np.ones(k))
        row = {"id": str(t), "arms": [f"arm {a}" for a in rng.permutation(arms[1])[:k]], "arm": arm, "pmf": p.tolist(), "x": x.tolist(),
               "r": None if rng.random() < missing else reward, "policies": {"other": target.tolist(), "best": np.eye(k)[x.sum(1).argmax()].tolist()}}
        if drop:
            row["drop"] = drop
        rows.append(row)
    return rows


LOGS = {
    "plain": {},
    "one arm at times": {"arms": (1, 3)},
    "one arm only": {"arms": (1, 1)},
    "ties": {"ties": True},
    "rare arms": {"least": 1e-6, "arms": (2, 2)},
    "rewards of another size": {"scale": 1e4, "level": -3e5},
    "half of it": {"drop": 0.5},
    "few": {"n": 12, "missing": 0},
    "no features": {"dim": 0},
}


def kept(rows):
    return [row for row in rows if row["r"] is not None]


def policies(rows):
    """Probabilities of what is evaluated: the log's own first."""
    return [("logged", [np.array(row["pmf"]) for row in rows]),
            ("uniform", [np.full(len(row["pmf"]), 1 / len(row["pmf"])) for row in rows]),
            ("column:other", [np.array(row["policies"]["other"]) for row in rows]),
            ("column:best", [np.array(row["policies"]["best"]) for row in rows])]


# ---- what the library expected of each arm ----


class Library:
    """An evaluation, row by row."""

    def __init__(self, n_policies, dim, low, high):
        options = ffi.new("gbose_evaluation_options *", lib.gbose_evaluation_defaults())
        options.low, options.high, options.switch_at, options.shrink, options.horizon = low, high, SWITCH, SHRINK, HORIZON
        box = ffi.new("gbose_evaluation **")
        assert lib.gbose_evaluation_new(box, n_policies, dim, options, ffi.NULL) == 0
        self.e, self.n, self.labels = ffi.gc(box[0], lib.gbose_evaluation_free), n_policies, {}

    def add(self, row, pmfs, reward=None):
        pmf = np.array(row["pmf"])
        x = np.ascontiguousarray(row["x"], dtype=float)
        label = ffi.new("size_t[]", [self.labels.setdefault(a, len(self.labels)) for a in row["arms"]])
        c = ffi.new("gbose_logged *", {"n_arms": len(pmf), "arm": row["arm"], "reward": row["r"] if reward is None else reward, "label": label})
        c.pmf, c.contexts = ffi.from_buffer("double[]", pmf), ffi.from_buffer("double[]", x)
        pointers = [ffi.from_buffer("double[]", np.ascontiguousarray(p, dtype=float)) for p in pmfs]
        err = ffi.new("gbose_error *")
        assert lib.gbose_evaluation_add(self.e, c, ffi.new("const double *[]", pointers), err) == 0, ffi.string(err.text)

    def policy(self, i):
        value = ffi.new("gbose_policy_value *")
        assert lib.gbose_evaluation_policy(self.e, i, value) == 0
        return value


def expectations(rows, low, high, last_reward=None):
    """q of every row and arm: by policies that always play the arm at one place, or the last one there is."""
    most, dim = max(len(row["pmf"]) for row in rows), len(rows[0]["x"][0])
    library = Library(most, dim, low, high)
    sums, out = np.zeros(most), []
    for t, row in enumerate(rows):
        k = len(row["pmf"])
        library.add(row, [np.eye(k)[min(a, k - 1)] for a in range(most)], last_reward if t + 1 == len(rows) else None)
        now = np.array([library.policy(a).dm for a in range(most)]) * (t + 1)
        out.append((now - sums)[:k])
        sums = now
    return out


# ---- the formulas ----


def log_gamma_p(a, x):
    """log of the regularised lower incomplete gamma function: series or continued fraction (Abramowitz and Stegun 6.5.29, 6.5.31)."""
    front = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > 1e-17 * total:
            n += 1
            term *= x / n
            total += term
        return front + math.log(total)
    b, c = x + 1 - a, 1e300
    d = h = 1 / b
    for i in range(1, 100000):
        an = -i * (i - a)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        h *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return math.log1p(-min(1 - 1e-300, math.exp(front) * h))


def log_mixture(S, V):
    """The gamma-exponential mixture with rho = 1."""
    if S + V + 1 <= 0:
        return -math.inf
    return S + V - (V + 1) * math.log(S + V + 1) + log_gamma_p(V + 1, S + V + 1) + math.lgamma(V + 1) - math.log(1 - math.exp(-1))


def lower_bound(X, alpha):
    """The least mean that the terms X >= 0 do not exclude, by bisection."""
    n, total = len(X), float(np.sum(X))
    before = np.concatenate([[0.0], np.cumsum(X)[:-1]])
    V = float(np.sum((X - np.minimum(1, (before + 0.5) / (np.arange(n) + 1))) ** 2))
    low, high = 0.0, total / n
    if log_mixture(total, V) < -math.log(alpha):
        return 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if log_mixture(total - n * middle, V) >= -math.log(alpha):
            low = middle
        else:
            high = middle
    return min(1.0, high)


def radius(V, u, alpha):
    return math.sqrt((V + u) * math.log((V + u) / (u * alpha**2)))


def judged(rows, pmfs, q, low, high, dim):
    """All numbers of policies.csv that have a formula."""
    n, scale = len(rows), high - low
    r = np.array([row["r"] for row in rows])
    logged = [np.array(row["pmf"]) for row in rows]
    arm = [row["arm"] for row in rows]
    q_played = np.array([q[t][arm[t]] for t in range(n)])
    out, first_w, first_q = [], None, None
    for number, (name, pi) in enumerate(pmfs):
        w = np.array([pi[t][arm[t]] / logged[t][arm[t]] for t in range(n)])
        q_pi = np.array([pi[t] @ q[t] for t in range(n)])
        off = r - q_played
        row = {"policy": name, "rounds": n, "ips": np.mean(w * r), "snips": np.sum(w * r) / np.sum(w), "dm": np.mean(q_pi),
               "dr": np.mean(q_pi + w * off), "sndr": np.mean(q_pi) + np.sum(w * off) / np.sum(w),
               "switch_dr": np.mean(q_pi + w * off * (w <= SWITCH)), "dr_os": np.mean(q_pi + SHRINK * w / (w**2 + SHRINK) * off),
               "effective": np.sum(w) ** 2 / np.sum(w**2), "largest_weight": np.max(w), "level": np.mean(w * r)}
        # Cressie-Read of order -2, as in LITERATURE: a phantom weight, infinite where the weights add up to less than n, else 0
        if np.sum(w) < n:
            gam, bet = -(n + 1) / n, 0.0
        else:
            a, b = np.sum(w) / (n + 1), np.sum(w**2) / (n + 1)
            gam, bet = (b - a) / (a**2 - b), (1 - a) / (a**2 - b)
        row["cressie_read"] = (-gam * np.sum(w * r) - bet * np.sum(w**2 * r)) / (n + 1) + \
            max(0, 1 - (-gam * np.sum(w) - bet * np.sum(w**2)) / (n + 1)) * np.mean(r)
        row["level_lower"] = low + scale * lower_bound(w * (r - low) / scale, ALPHA / 2)
        row["level_upper"] = high - scale * lower_bound(w * (high - r) / scale, ALPHA / 2)
        unsupported = np.array([np.sum(pi[t][logged[t] == 0]) for t in range(n)])
        row["supported"], row["mean_weight"] = 1 - np.mean(unsupported), np.mean(w + unsupported)
        row["mean_weight_lower"] = lower_bound(w + unsupported, ALPHA / 2)
        row["peek"] = np.mean([pi[t][arm[t]] - logged[t] @ pi[t] for t in range(n)])
        if number == 0:
            first_w, first_q = w, q_pi
        else:
            unit = (r - low) / scale
            row["paired_lower"] = scale * (2 * lower_bound((w * unit + first_w * (1 - unit)) / 2, ALPHA / 2) - 1)
            row["paired_upper"] = scale * (1 - 2 * lower_bound((first_w * unit + w * (1 - unit)) / 2, ALPHA / 2))
            late = np.arange(1, n + 1) > 10 * (1 + dim)
            error = ((w - first_w) * off)[late]
            phi = (q_pi - first_q)[late] + error
            if late.any():
                row["difference"] = np.mean(phi)
                spread = np.array([np.sum((pi[t] - logged[t]) ** 2 / logged[t]) for t in range(n)])[late]
                reach = np.array([np.max(((pi[t] - logged[t]) / logged[t]) ** 2) for t in range(n)])[late]
                settled = (np.cumsum(error != 0) >= 50) & (np.maximum.accumulate(reach) <= 0.1 * np.cumsum(spread))
                if settled.any():
                    at = int(np.argmax(settled))
                    L = -2 * math.log(ALPHA)
                    u = np.sum(error[: at + 1] ** 2) / (at + 1) * HORIZON / (L + math.log(1 + L))
                    half = radius(np.sum(error**2), u, ALPHA) / len(phi)
                    row["difference_lower"], row["difference_upper"] = np.mean(phi) - half, np.mean(phi) + half
                else:
                    row["difference_lower"], row["difference_upper"] = -math.inf, math.inf
        out.append(row)
    return out


@pytest.mark.parametrize("name", LOGS)
def test_the_command_agrees_with_the_formulas(name, tmp_path, command):
    rows = made(len(name), **LOGS[name])
    dim = LOGS[name].get("dim", 2)
    given = [{key: value for key, value in row.items() if key != "x" or dim} for row in rows]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    rows = kept(rows)
    rewards = [row["r"] for row in rows]
    low, high = math.floor(min(rewards) - 1), math.ceil(max(rewards) + 1)
    subprocess.run([command, "evaluate", "log.jsonl", "--policy", "logged", "uniform", "column:other", "column:best", "--range", f"{low},{high}",
                    "--switch", str(SWITCH), "--shrink", str(SHRINK), "--horizon", str(HORIZON), "--out", "out"],
                   check=True, capture_output=True, cwd=tmp_path)
    with open(tmp_path / "out" / "policies.csv") as file:
        found = list(csv.DictReader(file))
    expected = judged(rows, policies(rows), expectations(rows, low, high), low, high, dim)
    assert [row["policy"] for row in found] == [row["policy"] for row in expected]
    size = 1 + max(abs(low), abs(high))
    for row, right in zip(found, expected):
        largest = max(1, right["largest_weight"])
        for column, value in right.items():
            if column == "policy":
                continue
            if math.isinf(value):
                assert float(row[column]) == value, (name, row["policy"], column)
                continue
            # what was taken out of sums is known to a part in 1e13 of them; a weight multiplies that
            tolerance = 1e-12 * size * (largest if column in ("dr", "sndr", "switch_dr", "dr_os", "difference") else 1)
            if column.endswith(("_lower", "_upper")):
                tolerance = 1e-9 * size * (largest if column.startswith("difference") else 1)
            if column in ("effective", "rounds", "largest_weight"):
                tolerance = 1e-11 * value
            if column == "cressie_read":
                tolerance *= largest
            assert float(row[column]) == pytest.approx(value, abs=tolerance), (name, row["policy"], column)


# ---- the regression ----


def test_the_regression_is_of_earlier_rows_alone():
    """Another last reward does not change what was expected in that row; another reward before it does."""
    rows = kept(made(3, n=80))
    q = expectations(rows, -9, 9)
    other = expectations(rows, -9, 9, last_reward=-7.5)
    np.testing.assert_allclose(q[-1], other[-1], atol=1e-12)
    rows[-2] = {**rows[-2], "r": rows[-2]["r"] - 5}
    assert np.abs(expectations(rows, -9, 9)[-1] - q[-1]).max() > 1e-3


def test_the_regression_is_centred_least_squares():
    """q(a) = c + b_a'theta, theta = (lambda + sum X X')^-1 sum X (r - c - mean b'theta of then), c whatever it was."""
    rows, dim = kept(made(4, n=300, arms=(3, 5))), 2
    q = expectations(rows, -90, 90)
    first = np.array(rows[0]["x"])
    B, y, theta = 0.5 * np.mean(first**2) * np.eye(dim), np.zeros(dim), np.zeros(dim)
    for t, row in enumerate(rows):
        x, p = np.array(row["x"]), np.array(row["pmf"])
        np.testing.assert_allclose(q[t] - q[t][0], (x - x[0]) @ theta, atol=1e-9)
        if t >= 10:
            c = q[t][0] - x[0] @ theta
            X = x[row["arm"]] - p @ x
            B += np.outer(X, X)
            y += X * (row["r"] - c - p @ x @ theta)
            theta = np.linalg.solve(B, y)
    np.testing.assert_allclose(theta, 0.3, atol=0.1)


# ---- the audit ----


def test_the_audit_agrees_with_its_formulas():
    rows = kept(made(5, n=400, least=1e-4))
    rows = [{**row, "arm": (row["arm"] + (t % 40 == 0)) % len(row["pmf"])} for t, row in enumerate(rows)]  # drawn wrongly at times
    q = expectations(rows, -90, 90)
    library = Library(1, 2, -90, 90)
    checks, score = {}, [0.0, 0.0]
    for t, row in enumerate(rows):
        library.add(row, [row["pmf"]])
        bins = {}
        for a, p in enumerate(row["pmf"]):
            entry = checks.setdefault(("arm", row["arms"][a]), [0.0, 0.0])
            entry[0] += (a == row["arm"]) - p
            entry[1] += p * (1 - p)
            bins.setdefault(min(39, -math.ceil(math.log2(p))), []).append(a)
        for k, members in bins.items():
            p, entry = sum(row["pmf"][a] for a in members), checks.setdefault(("bin", k), [0.0, 0.0])
            entry[0] += (row["arm"] in members) - p
            entry[1] += max(0, p * (1 - p))
        p, mean = np.array(row["pmf"]), np.array(row["pmf"]) @ q[t]
        score[0] += q[t][row["arm"]] - mean
        score[1] += p @ (q[t] - mean) ** 2

    def freedman(s, v):
        """P(sum >= s) of terms at most 1 above their mean with variances v together, twice for both sides."""
        u = abs(s) / v
        return min(1, 2 * math.exp(-v * ((1 + u) * math.log1p(u) - u)))

    audit = ffi.new("gbose_audit *")
    assert lib.gbose_evaluation_audit(library.e, audit) == 0
    worst = {}
    for (kind, _), (s, v) in checks.items():
        if v > 0:
            worst.setdefault(kind, []).append((freedman(s, v), s / math.sqrt(v)))
    for kind, p, standard in (("arm", audit.arm_p, audit.arm), ("bin", audit.bin_p, audit.bin)):
        least = min(worst[kind])
        assert p == pytest.approx(min(1, len(worst[kind]) * least[0]), rel=1e-9)
        assert standard == pytest.approx(least[1], rel=1e-9)
    assert audit.score == pytest.approx(score[0] / math.sqrt(score[1]), rel=1e-6)
    assert audit.score_p == pytest.approx(math.erfc(abs(audit.score) / math.sqrt(2)), rel=1e-9)
    assert audit.p == pytest.approx(min(1, 3 * min(audit.arm_p, audit.bin_p, audit.score_p)), rel=1e-12)


@pytest.mark.parametrize("p", [1e-6, 1e-12, 1e-29])
def test_an_arm_that_is_too_rare_to_come_twice_is_caught(p):
    """Logged with 1e-6, drawn twice in 1,000 rounds: chance does that once in two million logs."""
    library = Library(1, 1, 0, 1)
    for t in range(1000):
        library.add({"arms": "ab", "arm": int(t % 500 > 0), "pmf": [p, 1 - p], "x": [[0.0], [1.0]], "r": 0.5}, [[p, 1 - p]])
    audit = ffi.new("gbose_audit *")
    assert lib.gbose_evaluation_audit(library.e, audit) == 0
    assert audit.p < 1e-4


def test_probabilities_that_cannot_be(tmp_path, command):
    """Of the arm played, less than 1e-30 is refused; of others it counts as none, and nothing overflows."""
    def line(p, arm, t=0):
        return json.dumps({"arm": arm, "pmf": [p, 1.0], "r": 0.5 + 0.1 * (t % 7 - 3), "x": [[0.0], [1.0]]}) + "\n"

    (tmp_path / "played.jsonl").write_text(line(1e-31, 0))
    done = subprocess.run([command, "evaluate", "played.jsonl", "--policy", "logged"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "played.jsonl, line 1: arm 0 was played, and is logged with probability 1e-31" in done.stderr
    (tmp_path / "others.jsonl").write_text("".join(line(5e-324, 1, t) for t in range(300)))
    subprocess.run([command, "evaluate", "others.jsonl", "--policy", "logged", "uniform", "arm=0", "--out", "out"], cwd=tmp_path, check=True, capture_output=True)
    with open(tmp_path / "out" / "policies.csv") as file:
        found = {row["policy"]: row for row in csv.DictReader(file)}
    assert float(found["uniform"]["supported"]) == pytest.approx(0.5) and float(found["arm=0"]["supported"]) == 0
    assert float(found["arm=0"]["difference_lower"]) == pytest.approx(-1, abs=0.6) and math.isfinite(float(found["uniform"]["difference_upper"]))


# ---- effects ----


def effect_of(f, x):
    value = ffi.new("gbose_effect_value *")
    code = lib.gbose_effects_at(f, ffi.from_buffer("double[]", np.ascontiguousarray(x, dtype=float)), 0.95, value)
    return value if code == 0 else None


@pytest.mark.parametrize("by_unit", [False, True])
def test_effects_agree_with_least_squares_and_the_sandwich(by_unit):
    """The responses y = r - c - mean b'm are taken out of the estimates: A mu grows by X y from row to row."""
    rows, dim = kept(made(6, n=1500, arms=(2, 4))), 2
    box = ffi.new("gbose_effects **")
    assert lib.gbose_effects_new(box, dim, int(by_unit), ffi.NULL) == 0
    f = ffi.gc(box[0], lib.gbose_effects_free)
    A, g, m = np.zeros((dim, dim)), np.zeros(dim), np.zeros(dim)
    first = np.array(rows[0]["x"])
    ridge = 0.5 * np.mean(first.var(axis=0)) * np.eye(dim)
    kept_rows = []
    for t, row in enumerate(rows):
        x, p = np.ascontiguousarray(row["x"]), np.array(row["pmf"])
        unit = t // 7
        c = ffi.new("gbose_logged *", {"n_arms": len(p), "arm": row["arm"], "reward": row["r"], "unit": unit})
        c.pmf, c.contexts = ffi.from_buffer("double[]", p), ffi.from_buffer("double[]", x)
        assert lib.gbose_effects_add(f, c, ffi.NULL) == 0
        if t < 10:
            continue
        X = x[row["arm"]] - p @ x
        A += np.outer(X, X)
        values = [effect_of(f, e) for e in np.eye(dim)]
        if None in values:  # not identified yet: the one row so far has X y = A mu all the same, along X
            now = g
            y = None
        else:
            now = A @ np.array([v.estimate for v in values])
            y = (now - g) @ X / (X @ X)
        kept_rows.append([X, y, unit, m])
        g = now
        if y is not None and len(kept_rows) >= 3:
            m = np.linalg.solve(ridge + A, g)
    # the first rows, before all is identified, came together with the first that is: their y is not known apart, so leave them out
    start = next(i for i, row in enumerate(kept_rows) if row[1] is not None) + 1
    X = np.array([row[0] for row in kept_rows])
    ys = np.array([row[1] if row[1] is not None else np.nan for row in kept_rows])
    mu = np.linalg.solve(A, g)
    ask = np.array([0.4, -1.3])
    value = effect_of(f, ask)
    assert value.estimate == pytest.approx(ask @ mu, rel=1e-9)
    u = np.linalg.solve(A, ask)
    h = np.einsum("ij,jk,ik->i", X, np.linalg.inv(A), X)
    early = np.arange(len(X)) < 1000
    late_e = np.array([y - row[0] @ row[3] if y == y else np.nan for row, y in zip(kept_rows, ys)])
    e = np.where(early, (ys - X @ mu) / (1 - h), late_e)
    terms = X @ u * e
    known = np.arange(len(X)) >= start
    assert known.sum() > len(X) - 5
    if by_unit:
        units = np.array([row[2] for row in kept_rows])
        sums = np.bincount(units[known], weights=terms[known])
        count = len(set(units))
        variance = np.sum(sums**2) * count / (count - 1)
        assert value.units == count
    else:
        variance = np.sum(terms[known] ** 2)
    assert value.error == pytest.approx(math.sqrt(variance), rel=0.01)  # but for the first rows
    assert value.rounds == len(X)


def test_the_response_of_effects_is_the_reward_less_what_was_known_before():
    """One more of the last reward moves the estimate by u'X, and by nothing else."""
    rows = kept(made(7, n=300, arms=(2, 4)))
    x, p = np.array(rows[-1]["x"]), np.array(rows[-1]["pmf"])
    found, A = [], np.zeros((2, 2))
    for more in (0, 1):
        box = ffi.new("gbose_effects **")
        assert lib.gbose_effects_new(box, 2, 0, ffi.NULL) == 0
        f = ffi.gc(box[0], lib.gbose_effects_free)
        for t, row in enumerate(rows):
            contexts, pmf = np.ascontiguousarray(row["x"]), np.array(row["pmf"])
            c = ffi.new("gbose_logged *", {"n_arms": len(pmf), "arm": row["arm"], "reward": row["r"] + more * (t + 1 == len(rows))})
            c.pmf, c.contexts = ffi.from_buffer("double[]", pmf), ffi.from_buffer("double[]", contexts)
            assert lib.gbose_effects_add(f, c, ffi.NULL) == 0
            if more and t >= 10:
                X = contexts[row["arm"]] - pmf @ contexts
                A += np.outer(X, X)
        found.append([effect_of(f, e).estimate for e in np.eye(2)])
    expected = np.linalg.solve(A, x[rows[-1]["arm"]] - p @ x)
    np.testing.assert_allclose(np.subtract(found[1], found[0]), expected, rtol=1e-9)


def test_wcls_agrees_with_whole_matrices(tmp_path, command):
    """Weighted and centred least squares with the correction of Mancl and DeRouen, on a trial with odd rows."""
    rng = np.random.default_rng(8)
    rows = []
    for unit in range(13):
        for t in range(int(rng.integers(4, 11))):
            p, z, day = rng.uniform(0.05, 0.95), rng.normal(), float(t)
            action = int(rng.random() < p)
            available = int(rng.random() < 0.85)
            rows.append([f"user {unit}", available, action, p, 2 + z + action * (0.6 - 0.1 * day) + rng.normal(), z, day])
    order = rng.permutation(len(rows))  # the rows of a participant need not stand together
    with open(tmp_path / "trial.csv", "w") as file:
        file.write("user,avail,treated,prob,steps,z,day\n")
        for i in order:
            file.write(",".join(str(value) for value in rows[i]) + "\n")
    for numerator in (None, 0.37):
        given = [] if numerator is None else ["--numerator", str(numerator)]
        subprocess.run([command, "effects", "trial.csv", "--wcls", "--unit", "user", "--available", "avail", "--arm", "treated", "--probability", "prob",
                        "--reward", "steps", "--controls", "z", "day", "--moderators", "day", "--out", "out", *given],
                       check=True, capture_output=True, cwd=tmp_path)
        use = [row for row in rows if row[1]]
        pt = np.mean([row[3] for row in use]) if numerator is None else numerator
        D = np.array([[1, z, day, a - pt, (a - pt) * day] for _, _, a, _, _, z, day in use])
        y = np.array([row[4] for row in use])
        w = np.array([pt / p if a else (1 - pt) / (1 - p) for _, _, a, p, *_ in use])
        bread = np.linalg.inv(D.T @ (w[:, None] * D))
        b = bread @ D.T @ (w * y)
        meat = np.zeros((5, 5))
        users = [row[0] for row in use]
        for user in sorted(set(users)):
            mine = np.array([u == user for u in users])
            hat = D[mine] @ bread @ (D[mine].T * w[mine])
            s = D[mine].T @ (w[mine] * np.linalg.solve(np.eye(mine.sum()) - hat, y[mine] - D[mine] @ b))
            meat += np.outer(s, s)
        errors = np.sqrt(np.diag(bread @ meat @ bread))[3:]
        with open(tmp_path / "out" / "effects.csv") as file:
            found = list(csv.DictReader(file))
        t_quantile = 2.3060041352041662  # 97.5% of Student's t with 13 - 5 degrees of freedom
        for row, estimate, error in zip(found, b[3:], errors):
            assert float(row["estimate"]) == pytest.approx(estimate, rel=1e-10)
            assert float(row["error"]) == pytest.approx(error, rel=1e-10)
            assert float(row["upper"]) == pytest.approx(estimate + t_quantile * error, rel=1e-9)
            assert int(row["rounds"]) == len(use) and int(row["units"]) == 13
