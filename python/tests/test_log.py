import json
import subprocess
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np
import pytest

import gbose


def made(n=2500, seed=0, floor=0.3):
    """A log of a world with a moving level, made by a bandit, and the truth about uniform and greedy play."""
    world = gbose.World("gallery:shift=season,arms=4,dim=3", seed=5)
    bandit = gbose.Bandit(f"gbose-auto:floor={floor}", dim=3, seed=seed + 1)
    rows = []
    for t in range(n):
        contexts = np.array(world.next().contexts)
        decision = bandit.decide(contexts)
        reward = world.play(decision.arm)[0]
        bandit.learn(decision.ticket, reward)
        rows.append({"id": str(t), "arm": decision.arm, "pmf": list(decision.pmf), "x": contexts.tolist(), "r": reward, "unit": str(t % 50)})
    return rows, bandit


@pytest.fixture(scope="module")
def log():
    return made()


def test_policies_of_all_kinds(log):
    rows, bandit = log
    def best(row):
        assert "r" not in row and "arm" not in row  # it cannot peek
        return np.eye(4)[np.argmax(np.array(row["x"]) @ bandit.coef)]
    result = gbose.evaluate(rows, ["uniform", "logged", "arm=2", bandit, best], ["gbose"], range=(-9, 9))
    assert result.rounds == 2500 and result.missing == 0
    for name in ("logged", bandit.spec, "best", "gbose"):
        assert result.differences[name].lower > 0, name
    assert "best is better than uniform by" in str(result)
    assert result.audit.p > 0.001
    frame = result.frame()
    assert list(frame.index) == ["uniform", "logged", "arm=2", bandit.spec, "best", "gbose"]
    assert frame.loc["uniform", "supported"] == pytest.approx(1)
    assert frame.loc["logged", "effective"] == pytest.approx(2500)
    ax = result.plot(plt.subplots()[1])
    assert len(ax.lines) == 6


def test_same_numbers_as_the_command(log, tmp_path):
    rows, _ = log
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = gbose.evaluate(path, ["logged", "uniform"], range=(-9, 9)).frame()
    command = os.environ.get("GBOSE")
    if not command:
        pytest.skip("GBOSE is not set")
    subprocess.run([command, "evaluate", path, "--policy", "logged", "uniform", "--range", "-9,9", "--out", tmp_path / "out"], check=True, capture_output=True)
    import pandas as pd

    other = pd.read_csv(tmp_path / "out" / "policies.csv").set_index("policy")
    for column in ("difference", "difference_lower", "ips", "dr", "sndr", "cressie_read", "level_lower", "effective"):
        np.testing.assert_allclose(result[column], other[column], rtol=1e-12)


def test_effects(log):
    rows, bandit = log
    found = gbose.effects(rows)
    assert [row["effect"] for row in found] == ["x0", "x1", "x2"]
    for i, row in enumerate(found):
        assert row["anytime_lower"] < row["lower"] < row["estimate"] < row["upper"] < row["anytime_upper"]
        assert row["anytime_lower"] < bandit.coef[i] < row["anytime_upper"]
        live = bandit.effect(np.eye(3)[i])
        assert live.lower < row["estimate"] < live.upper
    clustered = gbose.effects(rows, {"contrast": [1, -1, 0]}, unit=True)
    assert clustered[0]["units"] == 50
    assert clustered[0]["estimate"] == pytest.approx(found[0]["estimate"] - found[1]["estimate"])
    assert found.frame().shape == (3, 8)
    assert len(found.plot(plt.subplots()[1]).lines) == 10


def test_what_is_wrong_is_said(log, tmp_path):
    rows, _ = log
    with pytest.raises(gbose.Error, match="row 0: 'arm'"):
        gbose.evaluate([{"r": 1}])
    with pytest.raises(gbose.Error, match="no row with a reward"):
        gbose.evaluate([{"arm": 0, "pmf": [1.0], "r": None}])
    with pytest.raises(gbose.Error, match="row 0.*add up to 1.1"):
        gbose.evaluate([{"arm": 0, "pmf": [0.5, 0.6], "r": 1}])
    with pytest.raises(gbose.Error, match="unknown policy"):
        gbose.evaluate(rows, ["unifrom"])
    with pytest.raises(gbose.Error, match="mine gives probabilities of the shape"):
        gbose.evaluate(rows, [("mine", lambda row: [1.0])])
    path = tmp_path / "bad.jsonl"
    path.write_text('{"arm":0,"pmf":[1],"r":1}\n{"arm"\n')
    with pytest.raises(gbose.Error, match="bad.jsonl, line 2"):
        gbose.evaluate(path)
    with pytest.raises(gbose.Error) as error:
        gbose.Bandit("gbose", dim=2, seed=1).effect([1, 0])
    assert error.value.name == "ELEARNER"


def test_a_lying_log_is_caught(log):
    rows, _ = log
    lies = [{**row, "pmf": [0.25] * 4} for row in rows]
    assert "propensities: arms were not drawn as logged" in str(gbose.evaluate(lies))
