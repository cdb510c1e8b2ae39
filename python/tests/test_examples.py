"""The examples run, make their figures, and show what they say they show."""

import importlib.util

import pytest


@pytest.fixture
def run(tree, tmp_path):
    def run(name):
        spec = importlib.util.spec_from_file_location(name, tree / "examples" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        result = module.main(tmp_path / "figure.png")
        assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
        return result

    return run


def test_news(run, capsys):
    regret = run("news")
    assert regret["gbose-auto"] < 0.1 * regret["lin-ts"]
    assert "lin-ts" in capsys.readouterr().out


def test_heartsteps(run, capsys):
    bandit, first, last = run("heartsteps")
    assert bandit.round_features == 2
    assert last < first < 0.05
    assert "after 84000 rewards" in capsys.readouterr().out


def test_own_learner(run, capsys):
    study = run("own_learner")
    assert study.learners == ["gbose-auto", "gbose", "lin-ts", "GreedyRidge"]
    for world in study.worlds:
        assert study.regret(world, "gbose-auto").max() < study.regret(world, "GreedyRidge").min()
    assert "GreedyRidge" in capsys.readouterr().out
