"""simulate(): the numbers of the command, learners and worlds written in Python, results."""

import csv
import re
import signal
import subprocess
import threading

import numpy as np
import pytest

import gbose
from gbose._palette import colour, looks
from gbose._results import _t_quantile
from gbose._study import _seed

WORLDS = ["paper:arms=3,dim=2,shift=log-sine", "heartsteps"]


class Cycle:
    """Plays the arms in turn, and keeps what it was told."""

    told = []

    def __init__(self, dim, seed):
        self.dim, self.seed, self.t = dim, seed, 0
        Cycle.told.append((dim, seed))

    def decide(self, contexts):
        assert contexts.shape[1] == self.dim
        self.contexts = contexts
        self.t += 1
        return self.t % len(contexts), 1.0

    def learn(self, contexts, arm, reward):
        assert contexts is self.contexts and arm == self.t % len(contexts)
        assert isinstance(reward, float)


class Steps:
    """Two or three arms; the last one is worth 1, the others 0; the level follows what was played."""

    dim, arms = 2, 3

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.level = 0.0

    def next(self):
        n = int(self.rng.integers(2, 4))
        means = np.zeros(n)
        means[-1] = 1
        return gbose.Round(np.stack([means, self.rng.normal(size=n)], axis=1), means, shift=self.level)

    def observe(self, arm, reward):
        self.level += 0.5 if arm == 0 else -0.25


# ---- the numbers ----


def read(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def same_as_command(command, tmp_path, study, *arguments):
    """Every row of runs.csv, every number exactly."""
    subprocess.run([command, "simulate", *arguments, "--out", tmp_path / "out"], check=True, capture_output=True)
    rows = read(tmp_path / "out" / "runs.csv")
    assert len(rows) == len(study.runs)
    for row, run in zip(rows, study.runs):
        assert row["world"] == study.worlds[run["world"]]
        assert row["learner"] == study.learners[run["learner"]]
        assert row["value"] == study.values[run["learner"]][run["value"]]
        assert int(row["repetition"]) == run["repetition"]
        assert row["phase"] == ("fresh" if run["fresh"] else "tune")
        for column in ("regret", "reward", "lone"):
            assert float(row[column]) == run[column]


def test_the_numbers_are_those_of_the_command(command, tmp_path):
    study = gbose.simulate(WORLDS, ["gbose", "lin-ts", "gbose:gamma=0.5,seed=9"], rounds=700, reps=3, seed=11)
    same_as_command(
        command,
        tmp_path,
        study,
        "--world",
        *WORLDS,
        "--learner",
        "gbose",
        "lin-ts",
        "gbose:gamma=0.5,seed=9",
        "--rounds",
        "700",
        "--reps",
        "3",
        "--seed",
        "11",
    )


def test_and_with_a_sweep(command, tmp_path):
    study = gbose.simulate(WORLDS, ["gbose", "uniform"], rounds=300, reps=4, sweep={"gamma": [0.05, 0.4]})
    same_as_command(
        command,
        tmp_path,
        study,
        "--world",
        *WORLDS,
        "--learner",
        "gbose",
        "uniform",
        "--sweep",
        "gamma=0.05,0.4",
        "--rounds",
        "300",
        "--reps",
        "4",
    )
    table = read(tmp_path / "out" / "table.csv")
    for row, summary in zip(table, study.summary):
        assert (row["world"], row["learner"], row["value"]) == (summary.world, summary.learner, summary.value)
    rows = [row for row in table if row["learner"] == "uniform"]
    for row, difference in zip(rows, study.differences()):
        assert (row["world"], row["learner"], int(row["pairs"])) == (difference.world, "uniform", difference.n)
        for column, value in zip(("difference", "difference_low", "difference_high"), difference[-3:]):
            assert value == pytest.approx(float(row[column]), rel=1e-9)
    assert study.values == [["0.05", "0.4"], [""]]


def test_threads_do_not_matter():
    one, three = (
        gbose.simulate(WORLDS, ["gbose", Cycle], rounds=200, reps=4, threads=threads, seed=3) for threads in (1, 3)
    )
    assert (one.runs == three.runs).all() and (one.curves == three.curves).all()


# ---- learners and worlds written in Python ----


def test_a_learner_in_python_meets_the_rounds_of_the_world():
    """Its regret and reward are those that stepping the world by hand gives."""
    study = gbose.simulate(WORLDS, ["gbose", ("mine", Cycle)], rounds=250, reps=2, seed=5)
    assert study.learners == ["gbose", "mine"]
    for w, spec in enumerate(WORLDS):
        for repetition in range(2):
            world, total, gained = gbose.World(spec, seed=5, repetition=repetition), 0.0, 0.0
            learner = Cycle(world.dim, 0)
            for _ in range(250):
                contexts = world.next().contexts
                arm, _ = learner.decide(contexts)
                reward, regret = world.play(arm)
                total += regret
                gained += reward
            run = study.runs[(study.runs["world"] == w) & (study.runs["learner"] == 1)][repetition]
            assert (run["regret"], run["reward"], run["lone"]) == (total, gained, 1.0)
            assert study.curve(w, "mine")[repetition][-1] == np.float32(total)


def test_seeds_differ_between_repetitions_and_parties():
    Cycle.told = []
    seeds = []

    class Watched(Steps):
        def __init__(self, seed):
            seeds.append(seed)
            super().__init__(seed)

    gbose.simulate(Watched, [Cycle], rounds=5, reps=6, threads=1)
    told = [seed for _, seed in Cycle.told]
    assert len(set(told)) == 6 and {dim for dim, _ in Cycle.told} == {2}
    assert len(set(seeds) | set(told)) == 6 + 7  # one more world was made to ask for its sizes


def test_a_world_in_python():
    """Regret and reward of a run are those that playing the world in Python gives."""
    study = gbose.simulate([Steps, "paper"], [Cycle, "gbose"], rounds=300, reps=2, seed=8)
    assert study.worlds == ["Steps", "paper"]
    for repetition in range(2):
        world, learner, total, gained = Steps(_seed(8, repetition, 2)), Cycle(2, 0), 0.0, 0.0
        for _ in range(300):
            made = world.next()
            arm, _ = learner.decide(made.contexts)
            reward = made.means[arm] + made.shift
            world.observe(arm, reward)
            total += made.means.max() - made.means[arm]
            gained += reward
        run = study.runs[(study.runs["world"] == 0) & (study.runs["learner"] == 0)][repetition]
        assert (run["regret"], run["reward"]) == (total, gained)
        assert 0 < total < 300


def test_a_bandit_can_be_the_learner():
    study = gbose.simulate(
        "paper", [("b", lambda dim, seed: gbose.Bandit("gbose", dim=dim, seed=seed)), "gbose"], rounds=400, reps=5
    )
    mine, ours = study.regret(learner="b"), study.regret(learner="gbose")
    assert (mine != ours).all() and 0.5 < np.median(mine) / np.median(ours) < 2  # other random numbers, same kind
    assert 0 < study.runs["lone"][0] < 1


# ---- what goes wrong ----


class Broken(Exception):
    pass


def breaking(method, at):
    class Breaks(Cycle):
        def __init__(self, dim, seed):
            if method == "init":
                raise Broken(method)
            super().__init__(dim, seed)

        def decide(self, contexts):
            if method == "decide" and self.t == at:
                raise Broken(method)
            return super().decide(contexts)

        def learn(self, contexts, arm, reward):
            if method == "learn" and self.t == at:
                raise Broken(method)

    return Breaks


@pytest.mark.parametrize("method", ["init", "decide", "learn"])
def test_an_exception_comes_back(method):
    with pytest.raises(Broken, match=method):
        gbose.simulate("paper", ["gbose", breaking(method, 5)], rounds=100, reps=3)


@pytest.mark.parametrize(
    "choice, error",
    [
        (7, gbose.Error),
        (-1, gbose.Error),
        ("a", TypeError),
        (None, TypeError),
        ((0, "x"), TypeError),
        ((0, 1.5), gbose.Error),
        ((0, -0.1), gbose.Error),
        (1.0, TypeError),
    ],
)
def test_a_choice_that_is_none(choice, error):
    class Chooses(Cycle):
        def decide(self, contexts):
            return choice

    with pytest.raises(error):
        gbose.simulate("paper:arms=3", Chooses, rounds=10, reps=1)


@pytest.mark.parametrize(
    "made, text",
    [
        ((np.zeros((2, 3)), np.zeros(2)), "shape"),
        ((np.zeros((2, 2)), np.zeros(3)), "shape"),
        ((np.zeros((4, 2)), np.zeros(4)), "4 arms in a round; its limits are 1 and 3"),
        ((np.zeros((0, 2)), np.zeros(0)), "0 arms"),
        ((np.full((2, 2), np.nan), np.zeros(2)), "not finite"),
        ((np.zeros((2, 2)), np.zeros(2), np.inf), "not finite"),
    ],
)
def test_a_round_that_is_none(made, text):
    class Makes(Steps):
        def next(self):
            return made

    with pytest.raises(gbose.Error, match=text):
        gbose.simulate(Makes, "gbose", rounds=10, reps=1)


def test_progress_is_told_and_may_stop():
    seen = []
    gbose.simulate("paper", "gbose", rounds=500, reps=8, progress=lambda done, needed: seen.append((done, needed)))
    assert seen[-1] == (8, 8) and seen == sorted(seen)

    def stop(done, needed):
        if done >= 2:
            raise Broken("enough")

    with pytest.raises(Broken, match="enough"):
        gbose.simulate("paper", "gbose", rounds=2000, reps=50, progress=stop)


@pytest.mark.parametrize("learner", ["gbose", Cycle])
def test_ctrl_c_stops_a_study(learner):
    """Played to its end it would take hours."""
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        gbose.simulate("paper", learner, rounds=10**9, reps=4)


@pytest.mark.parametrize(
    "arguments, text",
    [
        (dict(worlds=[], learners="gbose"), "no world"),
        (dict(worlds="paper", learners=[]), "no learner"),
        (dict(worlds="papper", learners="gbose"), "did you mean"),
        (dict(worlds="paper", learners="gboose"), "did you mean"),
        (dict(worlds="paper", learners=["gbose", "gbose"]), "twice"),
        (dict(worlds="paper", learners=[Cycle, Cycle]), "twice"),
        (dict(worlds="paper", learners="gbose", sweep={"tempo": [1]}), "no learner has the option 'tempo'"),
        (dict(worlds="paper", learners="gbose", sweep={"gamma": []}), "needs a list"),
        (dict(worlds="paper", learners="gbose", sweep={"gamma": "0.1,0.2"}), "needs a list"),
        (dict(worlds="paper", learners="gbose", sweep={"gamma": [-1]}), "gamma"),
        (dict(worlds="paper", learners="gbose", sweep={"gamma": [1], "lambda": [2]}), "one option at a time"),
        (dict(worlds="paper", learners="gbose", rounds=0), "invalid"),
        (dict(worlds="paper", learners="gbose", rounds=-5), "rounds must be"),
        (dict(worlds="paper", learners="gbose", reps=0), "invalid"),
        (dict(worlds="paper", learners="gbose", threads=5000), "threads must be"),
        (dict(worlds="paper", learners="gbose", seed=-1), "seed must be"),
    ],
)
def test_wrong_studies(arguments, text):
    with pytest.raises(gbose.Error, match=text):
        gbose.simulate(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(worlds=5, learners="gbose"),
        dict(worlds="paper", learners=[5]),
        dict(worlds="paper", learners=[("a", "b", "c")]),
        dict(worlds=("a", "paper"), learners="gbose"),
        dict(worlds="paper", learners="gbose", rounds="many"),
    ],
)
def test_wrong_types(arguments):
    with pytest.raises(TypeError):
        gbose.simulate(**arguments)


# ---- results ----


@pytest.fixture(scope="module")
def study():
    return gbose.simulate(WORLDS, ["gbose", "uniform"], rounds=1000, reps=5, sweep={"gamma": [0.05, 0.4]})


def test_arrays(study):
    assert len(study.runs) == 2 * (2 * 5 + 5 + 5 + 5)  # worlds (values reps + fresh + uniform + fresh)
    assert study.curves.shape == (len(study.runs), len(study.points)) == (50, 200)
    assert study.points[-1] == 1000
    np.testing.assert_allclose(study.curves[:, -1], study.runs["regret"], rtol=1e-6)
    assert (np.diff(study.curves, axis=1) >= 0).all()
    assert repr(study) == "<gbose.Study: 2 worlds, 2 learners, 50 runs>"
    assert len(str(study).splitlines()) == 5


def test_summary(study):
    for s in study.summary:
        regret = study.regret(s.world, s.learner)
        assert (s.n, s.median) == (5, np.median(regret))
        assert (s.low, s.high) == tuple(np.quantile(regret, [0.25, 0.75]))
        runs = study.runs[study.runs["world"] == study.worlds.index(s.world)]
        runs = runs[runs["learner"] == study.learners.index(s.learner)]
        assert set(regret) == set(runs["regret"][runs["fresh"]])
        medians = [np.median(runs["regret"][(runs["value"] == v) & ~runs["fresh"]]) for v in set(runs["value"])]
        assert s.value == study.values[study.learners.index(s.learner)][int(np.argmin(medians))]
    with pytest.raises(KeyError, match="there is gbose, uniform"):
        study.regret(learner="nobody")
    assert study.curve(0, 0).shape == (5, 200)


def test_pandas(study):
    frame = study.to_pandas()
    assert list(frame.columns) == list(study.runs.dtype.names)
    assert len(frame) == 50 and set(frame["learner"]) == {"gbose", "uniform"}
    grouped = frame[(frame.value == "0.4") & ~frame.fresh].groupby("world").regret.median()
    runs = study.runs[(study.runs["learner"] == 0) & (study.runs["value"] == 1) & ~study.runs["fresh"]]
    assert grouped[WORLDS[1]] == np.median(runs["regret"][runs["world"] == 1])


def test_plot(study, tmp_path):
    figure = study.plot()
    assert [axes.get_title() for axes in figure.axes] == study.worlds
    (line, _) = figure.axes[1].lines
    np.testing.assert_allclose(line.get_ydata(), np.median(study.curve(1, 0), axis=0))
    for w, world in enumerate(study.worlds):  # the numbers of print()
        for l, learner in enumerate(study.learners):
            summary = study.summary[2 * w + l]
            assert figure.axes[w].lines[l].get_ydata()[-1] == pytest.approx(summary.median, rel=1e-6)
    assert figure._repr_png_().startswith(b"\x89PNG")
    figure.savefig(tmp_path / "regret.png")
    assert (tmp_path / "regret.png").stat().st_size > 5000


@pytest.mark.parametrize("df, t", [(1, 12.706205), (2, 4.302653), (3, 3.182446), (9, 2.262157), (30, 2.042272)])
def test_students_t(df, t):
    """The 95% column of the table in any book."""
    assert _t_quantile(0.95, df) == pytest.approx(t, rel=1e-6)


def test_differences(study):
    """By the definition, in the other direction and at another level."""
    (first, second) = study.differences(to="uniform", level=0.9)
    for difference, world in zip((first, second), study.worlds):
        d = study.regret(world, "gbose") - study.regret(world, "uniform")
        half = 2.131847 * d.std(ddof=1) / 5**0.5
        assert difference[:4] == (world, "gbose", "uniform", 5)
        assert difference[4:] == pytest.approx((d.mean(), d.mean() - half, d.mean() + half), rel=1e-6)
    with pytest.raises(gbose.Error, match="level"):
        study.differences(level=95)
    alone = gbose.simulate("paper", ["gbose", "uniform"], rounds=20, reps=1).differences()[0]
    assert np.isfinite(alone.mean) and np.isnan(alone.low)


def test_save_and_load(study, tmp_path):
    study.save(tmp_path / "a study")
    again = gbose.Study.load(tmp_path / "a study")
    assert str(again) == str(study) and again.differences() == study.differences()
    np.testing.assert_array_equal(again.runs, study.runs)
    np.testing.assert_array_equal(again.curves, study.curves)
    for content in (b"", b"something else", (tmp_path / "a study").read_bytes()[:100]):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(gbose.Error, match="is not a study"):
            gbose.Study.load(tmp_path / "bad")
    with pytest.raises(FileNotFoundError):
        gbose.Study.load(tmp_path / "nothing")


def test_report(study, tmp_path):
    page = study.report(tmp_path / "new" / "report").read_text()
    for summary in study.summary:
        assert summary.world in page and f"{summary.median:.1f}" in page
    assert page.count("<svg") == len(study.worlds) and "minus gbose" in page
    for summary in study.summary:
        assert f"<title>{summary.learner}: final regret {summary.median:.1f} (median)</title>" in page
    runs = read(tmp_path / "new" / "report" / "runs.csv")
    assert [float(row["regret"]) for row in runs] == study.runs["regret"].tolist()
    assert {row["learner"] for row in runs} == {"gbose", "uniform"}
    assert len(read(tmp_path / "new" / "report" / "differences.csv")) == 2


def test_rich_display(study):
    table = study._repr_html_()
    assert table.count("<tr>") == 5 and table.count("<b>") == 2
    named = gbose.simulate("paper", [("<mine>", "gbose")], rounds=20, reps=2)
    assert "&lt;mine&gt;" in named._repr_html_() and "<mine>" not in named._repr_html_()


def test_a_bar(capsys, monkeypatch):
    def simulate(**options):
        gbose.simulate("paper", "gbose", rounds=20, reps=3, **options)
        return capsys.readouterr().err

    assert simulate() == ""  # nobody is looking
    monkeypatch.setattr("gbose._progress.time.monotonic", iter(range(1000)).__next__)
    assert "3/3 runs" in simulate(progress=True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert "3/3 runs" in simulate() and simulate(progress=False) == ""


# ---- a directory ----


def test_a_study_goes_on_from_its_directory(tmp_path):
    def study(**options):
        return gbose.simulate(WORLDS[0], ["gbose", Cycle], rounds=400, reps=6, threads=1, **options)

    whole, seen = study(), []

    def stop(done, needed):
        seen.append(done)
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(out=tmp_path / "kept", progress=stop)
    assert (tmp_path / "kept" / "study.json").exists()
    Cycle.told.clear()
    seen.clear()
    again = study(out=tmp_path / "kept", progress=lambda done, needed: seen.append(done))
    # On a busy machine all runs may have ended before the stop was obeyed: then nothing is left, and nothing is said.
    assert not seen or max(seen) == 12
    assert len(Cycle.told) <= 6
    np.testing.assert_array_equal(again.runs, whole.runs)
    np.testing.assert_array_equal(again.curves, whole.curves)
    Cycle.told.clear()
    np.testing.assert_array_equal(study(out=str(tmp_path / "kept")).runs, whole.runs)
    assert not Cycle.told  # nothing was played


def test_a_directory_of_another_study_is_refused(tmp_path):
    gbose.simulate("paper", "uniform", rounds=50, reps=2, out=tmp_path / "kept")
    with pytest.raises(gbose.Error, match="holds another study"):
        gbose.simulate("paper", "uniform", rounds=50, reps=3, out=tmp_path / "kept")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="a file of that name is there"):
        gbose.simulate("paper", "uniform", rounds=50, reps=2, out=tmp_path / "file")


def test_the_command_takes_a_directory_over(tmp_path, command):
    study = gbose.simulate("paper:arms=3", ["gbose", "lin-ts"], rounds=300, reps=2, out=tmp_path / "kept")
    call = [command, "simulate", "--world", "paper:arms=3", "--learner", "gbose", "lin-ts", "--rounds", "300"]
    subprocess.run([*call, "--reps", "2", "--out", tmp_path / "kept"], check=True, capture_output=True)
    with open(tmp_path / "kept" / "runs.csv") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["regret"]) for row in rows] == list(study.runs["regret"])


# ---- colours ----


def test_a_learner_has_the_colour_of_the_commands_figures(tmp_path, command):
    names = ["gbose", "gbose:lone=half", "bose", "action-ts", "semi-ts", "lin-ts", "lin-ucb", "eps-greedy", "uniform"]
    names.append("gbose-auto")
    call = [command, "simulate", "--world", "paper:dim=2,arms=3", "--rounds", "50", "--reps", "2", "--learner", *names]
    subprocess.run([*call, "--out", tmp_path / "out"], check=True, capture_output=True)
    script = (tmp_path / "out" / "figures" / "regret-worlds-1.gp").read_text()
    drawn = re.findall(r'with lines .*lc rgb "(#[0-9A-F]{6})" title "(.*?): final regret', script)
    assert {name: c for c, name in drawn} == {name: colour(name) for name in names}
    assert looks(names)[1].dash != looks(names)[0].dash
    assert colour("MyOwn") == colour("MyOwn") != colour("gbose")


def test_plots_share_a_scale_and_name_their_lines():
    study = gbose.simulate(WORLDS, ["gbose-auto", "uniform"], rounds=300, reps=2)
    figure = study.plot()
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    for axes in figure.axes:
        assert sorted(text.get_text() for text in axes.texts) == ["gbose-auto", "uniform"]
        assert axes.lines[0].get_color() == colour("gbose-auto")
