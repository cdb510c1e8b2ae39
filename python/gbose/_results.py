"""What simulate() returns: runs, tables, figures, a report."""

from __future__ import annotations

import csv
import html
import io
import json
import os
from pathlib import Path
from typing import Any, NamedTuple, Sequence
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ._arguments import Array
from ._errors import Error
from ._palette import colour, looks


class Summary(NamedTuple):
    """How a learner did in a world: final regret with the value of the swept option that came out best (`value`, "" if
    none was swept), over the fresh repetitions if there are any, else over all."""

    world: str
    learner: str
    value: str
    n: int
    median: float
    low: float  # the lower quartile
    high: float  # the upper quartile
    reward: float  # mean of the sums of rewards


class Difference(NamedTuple):
    """Final regret of a learner minus that of another, repetition by repetition: both met the same rounds. `low` and
    `high` are a confidence interval for its mean (Student's t); NaN if there is one repetition only."""

    world: str
    learner: str
    to: str
    n: int
    mean: float
    low: float
    high: float


def _t_probability(t: float, df: int) -> float:
    """Of |T| <= t, T of Student's law with df degrees of freedom: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = np.arctan2(t, np.sqrt(df))
    cosine, sine = np.cos(angle), np.sin(angle)
    term, total = (1.0, 1.0) if df % 2 == 0 else (cosine, cosine if df > 1 else 0.0)
    for k in range(2 + df % 2, df - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    return float(sine * total) if df % 2 == 0 else float(2 / np.pi * (angle + sine * total))


def _t_quantile(level: float, df: int) -> float:
    """t with P(|T| <= t) = level."""
    low, high = 0.0, 1.0
    while _t_probability(high, df) < level:
        high *= 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _t_probability(middle, df) < level else (low, middle)
    return high


class Study:
    """What simulate() returns.

    worlds, learners   their names, in the order given
    values             for each learner the values of the swept option as text: [""] if there is none
    points             (n_points,) the rounds at which curves have their points
    runs               (n_runs,) a structured array with a row for each run: world, learner and value (indices into the
                       above), repetition, fresh, regret (at the end), reward (sum), lone (share of rounds in which the
                       arm had probability 1)
    curves             (n_runs, n_points) cumulative regret
    summary            a list of Summary, one for each world and learner; print(study) shows it
    """

    RUN = np.dtype(
        [
            ("world", np.int64),
            ("learner", np.int64),
            ("value", np.int64),
            ("repetition", np.int64),
            ("fresh", np.bool_),
            ("regret", np.float64),
            ("reward", np.float64),
            ("lone", np.float64),
        ]
    )

    def __init__(
        self,
        worlds: list[str],
        learners: list[str],
        values: list[list[str]],
        best: list[list[int]],
        points: NDArray[np.int64],
        runs: Any,
        curves: NDArray[np.float32],
    ) -> None:
        self.worlds = worlds
        self.learners = learners
        self.values = values
        self.points = points
        self.runs = runs
        self.curves = curves
        self._best = best
        self.summary = [self._summarise(w, l) for w in range(len(worlds)) for l in range(len(learners))]

    def _index(self, names: list[str], which: str | int, what: str) -> int:
        if isinstance(which, str):
            if which not in names:
                raise KeyError(f"no {what} '{which}' in this study; there is {', '.join(names)}")
            return names.index(which)
        return range(len(names))[which]

    def _select(self, world: int, learner: int, fresh: bool) -> NDArray[np.bool_]:
        r = self.runs
        chosen: NDArray[np.bool_] = (
            (r["world"] == world)
            & (r["learner"] == learner)
            & (r["value"] == self._best[world][learner])
            & (r["fresh"] == (fresh and bool(r["fresh"].any())))
        )
        return chosen

    def regret(self, world: str | int = 0, learner: str | int = 0) -> Array:
        """Final regret by repetition, with the value that came out best: the fresh repetitions if there are any."""
        w, l = self._index(self.worlds, world, "world"), self._index(self.learners, learner, "learner")
        regret: Array = self.runs["regret"][self._select(w, l, fresh=True)]
        return regret

    def curve(self, world: str | int = 0, learner: str | int = 0) -> NDArray[np.float32]:
        """Cumulative regret (repetitions, n_points) of the same runs as regret()."""
        w, l = self._index(self.worlds, world, "world"), self._index(self.learners, learner, "learner")
        return self.curves[self._select(w, l, fresh=True)]

    def differences(self, to: str | int = 0, level: float = 0.95) -> list[Difference]:
        """How much more regret each learner has than the learner `to`, in each world, with confidence intervals.

        >>> import gbose
        >>> study = gbose.simulate("paper:arms=2,dim=3", ["gbose", "uniform"], rounds=500, reps=5)
        >>> [difference] = study.differences()
        >>> difference.learner, bool(difference.low > 0)
        ('uniform', True)
        """
        if not 0 < level < 1:
            raise Error(f"level must be between 0 and 1, not {level}")
        base = self._index(self.learners, to, "learner")
        out = []
        for w, world in enumerate(self.worlds):
            for l, learner in enumerate(self.learners):
                if l == base:
                    continue
                d = self.regret(w, l) - self.regret(w, base)
                n, mean, half = len(d), float(d.mean()), np.nan
                if n > 1:
                    half = _t_quantile(level, n - 1) * float(d.std(ddof=1)) / n**0.5
                out.append(Difference(world, learner, self.learners[base], n, mean, mean - half, mean + half))
        return out

    # ---- keeping it ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, which Study.load() reads."""
        names = {"worlds": self.worlds, "learners": self.learners, "values": self.values, "best": self._best}
        with open(path, "wb") as file:
            np.savez_compressed(file, names=json.dumps(names), points=self.points, runs=self.runs, curves=self.curves)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Study:
        """A study that save() wrote."""
        try:
            with open(path, "rb") as file:
                kept = np.load(file, allow_pickle=False)
                names = json.loads(str(kept["names"]))
                parts = kept["points"], kept["runs"], kept["curves"]
                return cls(names["worlds"], names["learners"], names["values"], names["best"], *parts)
        except (IndexError, KeyError, ValueError, EOFError, BadZipFile) as error:
            raise Error(f"{os.fspath(path)} is not a study that save() wrote") from error

    def report(self, directory: str | os.PathLike[str]) -> Path:
        """Write report.html (tables, and a figure if matplotlib is there), summary.csv, differences.csv and runs.csv into a
        directory, which is made if it is missing. Returns the path of the page."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        _write_csv(folder / "summary.csv", Summary._fields, self.summary)
        _write_csv(folder / "differences.csv", Difference._fields, self.differences())
        names = Study.RUN.names or ()
        _write_csv(folder / "runs.csv", names, [self._named(run) for run in self.runs])
        page = folder / "report.html"
        page.write_text(
            "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>\n"
            '<meta name=viewport content="width=device-width, initial-scale=1">\n'
            f"<title>A study of {len(self.learners)} learners</title>\n<style>{_STYLE}</style>\n"
            f"<h1>Regret of {len(self.learners)} learners after {int(self.points[-1])} rounds</h1>\n"
            "<p>Regret: how much more reward the best arm of each round would have brought on average, summed over the "
            f"rounds. Lower is better.</p>\n{self._repr_html_()}\n{self._drawings()}\n</html>\n",
            encoding="utf-8",
        )
        return page

    def _named(self, run: Any) -> list[Any]:
        world, learner, value, *rest = run.tolist()
        return [self.worlds[world], self.learners[learner], self.values[learner][value], *rest]

    def _drawings(self) -> str:
        """A drawing for each world, which stand side by side where the page is wide enough."""
        try:
            return '<div class="figures">' + "".join(self._svg(w) for w in range(len(self.worlds))) + "</div>"
        except ImportError:
            return ""

    def _svg(self, world: int) -> str:
        """The drawing of a world, in colours that the page sets, and with a title on every curve."""
        text = io.StringIO()
        self._figure([world], 3.4, 3.2).savefig(text, format="svg", metadata={"Date": None}, transparent=True)
        svg = text.getvalue()
        for name, colours in _PAGE_COLOURS.items():
            svg = svg.replace(colours[0], f"var(--{name})")
        for l, learner in enumerate(self.learners):
            title = f"{learner}: final regret {np.median(self.regret(world, l)):.1f} (median)"
            mark = f'<g id="{_curve_name(world, l)}">'
            svg = svg.replace(mark, f"{mark}<title>{html.escape(title)}</title>")
        return svg[svg.index("<svg") :]

    def _repr_html_(self) -> str:
        """A table, for notebooks: the numbers of print()."""
        minus = {(d.world, d.learner): d for d in self.differences()}
        swept = any(s.value for s in self.summary)
        rows = ["world", "learner", *(["value"] if swept else []), "regret: median", "quartiles"]
        rows += [f"minus {self.learners[0]} [95% interval]"] if minus else []
        text = "<table><thead><tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in rows) + "</tr></thead><tbody>\n"
        for s in self.summary:
            least = min(t.median for t in self.summary if t.world == s.world)
            median = f"<b>{s.median:.1f}</b>" if s.median == least else f"{s.median:.1f}"
            d = minus.get((s.world, s.learner))
            cells = [html.escape(s.world), html.escape(s.learner), *([html.escape(s.value) or "-"] if swept else [])]
            cells += [median, f"{s.low:.1f} to {s.high:.1f}"]
            if minus:
                cells.append(f"{d.mean:+.1f} [{d.low:.1f}, {d.high:.1f}]" if d else "-")
            text += "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"
        return text + "</tbody></table>"

    def _summarise(self, world: int, learner: int) -> Summary:
        which = self._select(world, learner, fresh=True)
        low, median, high = np.quantile(self.runs["regret"][which], [0.25, 0.5, 0.75])
        value = self.values[learner][self._best[world][learner]]
        reward = float(self.runs["reward"][which].mean())
        return Summary(
            self.worlds[world],
            self.learners[learner],
            value,
            int(which.sum()),
            float(median),
            float(low),
            float(high),
            reward,
        )

    def __str__(self) -> str:
        rows = [("world", "learner", "value", "regret (median [quartiles])")]
        rows += [
            (s.world, s.learner, s.value or "-", f"{s.median:.1f} [{s.low:.1f}, {s.high:.1f}]") for s in self.summary
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows)

    def __repr__(self) -> str:
        return f"<gbose.Study: {len(self.worlds)} worlds, {len(self.learners)} learners, {len(self.runs)} runs>"

    def to_pandas(self) -> Any:
        """All runs as a pandas DataFrame, with names instead of indices. Needs pandas."""
        import pandas

        frame = pandas.DataFrame(self.runs)
        frame["value"] = [self.values[l][v] for l, v in zip(self.runs["learner"], self.runs["value"])]
        frame["world"] = [self.worlds[w] for w in self.runs["world"]]
        frame["learner"] = [self.learners[l] for l in self.runs["learner"]]
        return frame

    def plot(self) -> Any:
        """A matplotlib figure: for each world the median of cumulative regret, with quartiles, in the colours of the
        command's figures. All worlds share one scale, which is logarithmic where final regrets are far apart. Needs
        matplotlib.

        `study.plot().savefig("regret.png")` writes it to a file; a notebook shows it."""
        return self._figure(range(len(self.worlds)))

    def _figure(self, worlds: Sequence[int], width: float = 5.0, height: float = 4.5) -> Any:
        """The panels of these worlds, of this size in inches, up to three in a row, on the scale of the whole study."""
        from matplotlib.figure import Figure as Plain

        class Figure(Plain):  # type: ignore[misc]
            def _repr_png_(self) -> bytes:
                png = io.BytesIO()
                self.savefig(png, format="png", dpi=120)
                return png.getvalue()

        columns, look = min(len(worlds), 3), looks(self.learners)
        rows = -(-len(worlds) // columns)
        figure = Figure(figsize=(1.5 + width * columns, height * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False, sharey=True).flatten()
        least, most = min(s.median for s in self.summary), max(s.high for s in self.summary)
        if least > 0 and most / least > 30:
            panels[0].set_yscale("log")
            panels[0].set_ylim(least / 10, 1.3 * most)
            panels[0].yaxis.set_major_formatter("{x:g}")
        else:
            panels[0].set_ylim(0, 1.05 * most if most > 0 else 1)
        for axes in panels[len(worlds) :]:
            axes.set_visible(False)
        for i, (w, axes) in enumerate(zip(worlds, panels)):
            ends = []
            for l, name in enumerate(self.learners):
                low, median, high = np.quantile(self.curve(w, l), [0.25, 0.5, 0.75], axis=0)
                style = {"color": look[l].colour, "zorder": 2 + look[l].width, "gid": _curve_name(w, l)}
                axes.plot(self.points, median, ls=look[l].dash, lw=look[l].width, label=name, **style)
                axes.fill_between(self.points, low, high, color=look[l].colour, alpha=0.2, linewidth=0)
                ends.append(median[-1])
            axes.set_title(self.worlds[w], fontsize="medium")
            axes.set_xlabel("round")
            axes.set_xlim(0, self.points[-1])
            axes.spines[["top", "right"]].set_visible(False)
            if i % columns == 0:
                axes.set_ylabel("cumulative regret")
            self._label(axes, ends)
        return figure

    def _label(self, axes: Any, ends: Sequence[float]) -> None:
        """The learners' names beside the ends of their lines, moved apart where they would overlap."""
        to_share = (axes.transData + axes.transAxes.inverted()).transform
        height, gap = -1.0, 0.055
        shares = [float(to_share((0, end))[1]) for end in ends]
        order = sorted(range(len(ends)), key=lambda l: shares[l])
        room = 1.0 - gap * (len(ends) - 1)
        for rank, l in enumerate(order):
            height = max(min(shares[l], room + gap * rank), height + gap, 0.0)
            axes.annotate(
                self.learners[l],
                xy=(1, shares[l]),
                xytext=(1.03, height),
                xycoords="axes fraction",
                va="center",
                fontsize="small",
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "color": colour(self.learners[l]), "lw": 0.8, "shrinkA": 0, "shrinkB": 0},
            )


# ---- writing ----

# Colours of a drawing as matplotlib writes them, and what they are in the dark: as in src/report/html.c.
_PAGE_COLOURS = {"ink": ("#000000", "#e8e8e8"), "auto": ("#b00020", "#ff6b81"), "gbose": ("#0072b2", "#3391d0")}

_STYLE = """
:root { color-scheme: light dark; %s }
@media (prefers-color-scheme: dark) { :root { %s } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #1a1a1a }
h1 { font-size: 1.7em; line-height: 1.2 } p { max-width: 70ch }
table { border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums }
th, td { padding: .25em .8em; text-align: left; white-space: nowrap }
thead tr { border-bottom: 2px solid #888 } tbody tr { border-bottom: 1px solid #ddd }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(22em, 100%%), 1fr)); gap: 1em; margin-top: 1.5em }
.figures svg { width: 100%%; height: auto; fill: var(--ink) }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e8e8e8 } tbody tr { border-color: #3a3d44 } }
""" % tuple(" ".join(f"--{name}: {colours[i]};" for name, colours in _PAGE_COLOURS.items()) for i in range(2))


def _curve_name(world: int, learner: int) -> str:
    return f"curve-{world}-{learner}"


def _write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
